/** The repository's own TypeScript, parsed: what the tests of the house rules look at. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import ts from "typescript";

const root = join(import.meta.dirname, "..", "..");
const skipped = [/node_modules/, /^test\/codegen\/cases\//, /\/fixtures\//, /\.d\.ts$/];

/** A source file: its path below the root, with `/`, and its syntax tree. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

const parsed = new Map<string, SourceFile>();

/** Every TypeScript file below the given folders of the root, where they exist. */
export function sourceFiles(...folders: readonly string[]): readonly SourceFile[] {
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  return present.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
      .filter((path) => !skipped.some((pattern) => pattern.test(path)))
      .sort()
      .map((path) => parsed.get(path) ?? parse(path)),
  );
}

function parse(path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const file = { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true) };
  parsed.set(path, file);
  return file;
}

/** Every node of a tree, parents first. */
export function nodesOf(node: ts.Node): readonly ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (one: ts.Node): void => {
    nodes.push(one);
    ts.forEachChild(one, visit);
  };
  visit(node);
  return nodes;
}

/** `path:line` of a node, to click on. */
export function placeOf({ path, tree }: SourceFile, node: ts.Node): string {
  return `${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
