/** Error texts of any bytes. PostgreSQL's text holds neither NUL nor half a surrogate pair: these are written as escapes. */

/** Longer texts are cut: a stack trace is read by people. */
const longestText = 20_000;

// A backslash that would read as the beginning of an escape is escaped itself, so that every text comes back unchanged;
// other backslashes, those of Windows paths say, stay as they are.
const unstorable = /\\(?=u[0-9a-f]{4})|\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text as it can be stored, cut at 20,000 characters. */
export function storableText(text: string): string {
  return text.slice(0, longestText).replace(unstorable, escapeOf);
}

/** The text as it was. */
export function readStoredText(stored: string): string {
  return stored.replace(/\\u([0-9a-f]{4})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
