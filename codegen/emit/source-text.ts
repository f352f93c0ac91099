/**
 * The only file that knows ts-morph, of which it uses the compiler: a writer function fills a source, the result is parsed,
 * and what does not parse is never written. A schema's words must not become code. (A project of ts-morph's own would wrap
 * and keep every file; its writer looks at every character. Both take longer than the parser.)
 */
import { ts } from "ts-morph";
import { scriptFault } from "./script-fault.js";

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

/** Runs a writer and gives the text back. @throws Error when the text is no TypeScript or JavaScript. */
export function sourceText(path: string, write: (writer: SourceWriter) => void): string {
  const writer = new SourceWriter();
  write(writer);
  const text = writer.toString();
  const fault = path.endsWith(".ts") ? declarationFault(path, text) : scriptFault(text);
  if (fault !== undefined) throw new Error(`generated ${path} does not parse: ${fault}`);
  return text;
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

// Comments need no parsing: `docText` has made them harmless, and what ends one too early shows up as code.
function declarationFault(path: string, text: string): string | undefined {
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  const file = ts.createSourceFile(`/${path}`, text, options, false);
  // The parser's own findings; asking a program for them would bind and check the file as well.
  const [fault] = (file as unknown as { parseDiagnostics: readonly ts.DiagnosticWithLocation[] }).parseDiagnostics;
  if (fault === undefined) return undefined;
  const { line, character } = file.getLineAndCharacterOfPosition(fault.start);
  return `${line + 1}:${character + 1} ${ts.flattenDiagnosticMessageText(fault.messageText, " ")}`;
}
