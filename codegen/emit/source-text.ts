/**
 * The only file that knows ts-morph. A writer function fills a source, the result is parsed, and what does not parse is
 * never written: a schema's words must not become code.
 */
import { Project, type SourceFile } from "ts-morph";

/** Collects lines. ts-morph's own writer looks at every character, which takes longer than parsing the result. */
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

let shared: Project | undefined;

/** Runs a writer and gives the text back. @throws Error when the text is no TypeScript or JavaScript. */
export function sourceText(path: string, write: (writer: SourceWriter) => void): string {
  const writer = new SourceWriter();
  write(writer);
  const text = writer.toString();
  shared ??= new Project({
    useInMemoryFileSystem: true,
    skipLoadingLibFiles: true,
    compilerOptions: { allowJs: true },
  });
  const file = shared.createSourceFile(`/${path}`, text, { overwrite: true });
  const fault = firstFault(file);
  file.forget();
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

// The parser's own findings; asking a program for them would bind and check the file.
function firstFault(file: SourceFile): string | undefined {
  const node = file.compilerNode as unknown as {
    parseDiagnostics?: readonly { messageText: unknown; start: number }[];
  };
  const fault = node.parseDiagnostics?.[0];
  if (fault === undefined) return undefined;
  const { line, column } = file.getLineAndColumnAtPos(fault.start);
  return `${line}:${column} ${typeof fault.messageText === "string" ? fault.messageText : "syntax error"}`;
}
