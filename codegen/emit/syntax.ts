/**
 * The only file that knows ts-morph, of which it uses the compiler: what is generated is parsed, and what does not parse is
 * never written. (A project of ts-morph's own would wrap and keep every file; that takes longer than the parser.)
 *
 * To load a compiler takes longer than to generate a hundred queues. Declarations in which a schema's own words are plain ones
 * differ from those that the tests have parsed in nothing but names: they are parsed in a check, and else only the odd ones.
 */
import { createRequire } from "node:module";
import type * as TsMorph from "ts-morph";
import type { ts } from "ts-morph";
import { scriptFault } from "./script-fault.js";

const require = createRequire(import.meta.url);

/** @throws Error when the text of a generated file is no TypeScript or JavaScript */
export function refuseUnparsed(path: string, text: string, parse: "all" | "odd"): void {
  const fault = faultOf(path, text, parse);
  if (fault !== undefined) throw new Error(`generated ${path} does not parse: ${fault}`);
}

function faultOf(path: string, text: string, parse: "all" | "odd"): string | undefined {
  if (path.endsWith(".d.ts")) return parse === "all" || hasOddWords(text) ? declarationFault(path, text) : undefined;
  // The validators' syntax was looked at where they were compiled.
  return path.endsWith(".js") && !path.startsWith("validators/") ? scriptFault(text) : undefined;
}

// What is left without comments and plain strings should be names and the punctuation that we write ourselves.
function hasOddWords(text: string): boolean {
  const bare = text.replace(/^\/\/.*$|\/\*[\s\S]*?\*\/|"[\w .,:;/@#+-]*"/gm, "");
  return /[^\w$\s{}()[\]|&:;?=<>,.*-]/.test(bare);
}

// Comments need no parsing: `docText` has made them harmless, and what ends one too early shows up as code.
function declarationFault(path: string, text: string): string | undefined {
  const { ts } = require("ts-morph") as typeof TsMorph;
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  const file = ts.createSourceFile(`/${path}`, text, options, false);
  // The parser's own findings; asking a program for them would bind and check the file as well.
  const [fault] = (file as unknown as { parseDiagnostics: readonly ts.DiagnosticWithLocation[] }).parseDiagnostics;
  if (fault === undefined) return undefined;
  const { line, character } = file.getLineAndCharacterOfPosition(fault.start);
  return `${line + 1}:${character + 1} ${ts.flattenDiagnosticMessageText(fault.messageText, " ")}`;
}
