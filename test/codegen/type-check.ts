/** Real type-checks of generated declarations against values, all of a test file's in one program. */
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type * as TypeScript from "typescript";

// TypeScript is CommonJS; a named import of it would be slower to load than this.
const ts = createRequire(import.meta.url)("typescript") as typeof TypeScript;

/** Virtual source files by absolute path. */
export type Sources = ReadonlyMap<string, string>;

/** The errors of a set of virtual files, by file, with the line each stands on (from 0). */
export function typeErrors(
  sources: Sources,
  options: TypeScript.CompilerOptions = {},
): Map<string, { line: number; text: string }[]> {
  const compilerOptions: TypeScript.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
    lib: ["lib.es2022.d.ts"],
    ...options,
  };
  const host = ts.createCompilerHost(compilerOptions);
  const inner = { getSourceFile: host.getSourceFile, fileExists: host.fileExists, readFile: host.readFile };
  const folders = new Set([...sources.keys()].flatMap(ancestors));
  host.fileExists = (path) => sources.has(path) || inner.fileExists(path);
  host.readFile = (path) => sources.get(path) ?? inner.readFile(path);
  host.directoryExists = (path) => folders.has(path) || ts.sys.directoryExists(path);
  host.getSourceFile = (path, languageVersion, ...rest) => {
    const text = sources.get(path);
    if (text !== undefined) return ts.createSourceFile(path, text, languageVersion);
    return inner.getSourceFile(path, languageVersion, ...rest);
  };
  const program = ts.createProgram([...sources.keys()], compilerOptions, host);
  const errors = new Map<string, { line: number; text: string }[]>();
  for (const diagnostic of ts.getPreEmitDiagnostics(program)) {
    const path = diagnostic.file?.fileName ?? "";
    const line = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line ?? 0;
    const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
    errors.set(path, [...(errors.get(path) ?? []), { line, text }]);
  }
  return errors;
}

function ancestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [parent] : [parent, ...ancestors(parent)];
}

/** A JSON value as the type that holds just it; `member` is one more member of every object. */
export function exactType(value: unknown, member?: string): string {
  if (Array.isArray(value)) return `[${value.map((item) => exactType(item, member)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, own]) => `${JSON.stringify(key)}: ${exactType(own, member)}`);
  return `{ ${[...members, ...(member === undefined ? [] : [member])].join("; ")} }`;
}

/** A JSON value as an expression; `__proto__` as a key of its own. */
export function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, member]) => `[${JSON.stringify(key)}]: ${literal(member)}`)
    .join(", ")} }`;
}
