/** Names in code. A name is a function of the queue's own name only: never of order, position or the other queues. */

/** Lower and upper case by a fixed locale, so that a Turkish machine gives the same names. */
const locale = "en-US";

/** The words of a name: split at everything that is no letter, digit or mark, and at lower-Upper and ABCd borders. */
export function nameWords(name: string): string[] {
  return name
    .normalize("NFC")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== "");
}

/** `search-reindex` -> `searchReindex`; a leading digit gets `_`. */
export function camelName(name: string): string {
  const [first = "", ...rest] = nameWords(name);
  return digitSafe(first.toLocaleLowerCase(locale) + rest.map(capitalised).join(""));
}

/** `search-reindex` -> `SearchReindex`, without the care for a leading digit: for the middle of a name. */
export function pascalName(name: string): string {
  return nameWords(name).map(capitalised).join("");
}

/** The type's name of an identifier: `searchReindex` -> `SearchReindex`. */
export function typeNameOf(identifier: string): string {
  return identifier.charAt(0).toLocaleUpperCase(locale) + identifier.slice(1);
}

/** `_2faEnabled` -> `2faEnabled`: after `on` and `is` the underscore is not needed. */
export function verbSuffix(typeName: string): string {
  return /^_\p{N}/u.test(typeName) ? typeName.slice(1) : typeName;
}

/** `_` before a leading digit. */
export function digitSafe(name: string): string {
  return /^\p{N}/u.test(name) ? `_${name}` : name;
}

function capitalised(word: string): string {
  const [first = "", ...rest] = [...word];
  return first.toLocaleUpperCase(locale) + rest.join("").toLocaleLowerCase(locale);
}
