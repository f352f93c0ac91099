/** The text of generated files: a writer function fills a source. A schema's words must not become code. */

/** Collects lines. */
export class SourceWriter {
  readonly #parts: string[] = [];

  write(text: string): void {
    this.#parts.push(text);
  }

  writeLine(line: string): void {
    this.#parts.push(line, "\n");
  }

  blankLine(): void {
    this.#parts.push("\n");
  }

  toString(): string {
    return this.#parts.join("");
  }
}

/** Runs a writer and gives the text back. */
export function sourceText(write: (writer: SourceWriter) => void): string {
  const writer = new SourceWriter();
  write(writer);
  return writer.toString();
}

/** A description as the lines of a comment: its end cannot be closed and its words are no tags. */
export function docLines(text: string): string[] {
  const lines = docText(text).split("\n");
  while (lines.at(-1) === "") lines.pop();
  while (lines[0] === "") lines.shift();
  return lines;
}

/** A description that cannot leave its comment, mark anything as deprecated or link anywhere. */
export function docText(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n")
    .replaceAll("*/", "*\\/")
    .replace(/(^|\s)@/g, "$1\\@")
    .replaceAll("{@", "{\\@")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}
