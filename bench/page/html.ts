/** HTML in which everything that is put in is escaped, unless it is HTML already. */

export interface Html {
  readonly text: string;
}

type Part = Html | readonly Part[] | string | number | undefined;

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return raw(strings.map((before, index) => before + written(parts[index])).join(""));
}

/** What is HTML as it stands. */
export function raw(text: string): Html {
  return { text };
}

function written(part: Part): string {
  if (part === undefined) return "";
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "text" in part ? part.text : part.map(written).join("");
}

function escaped(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
