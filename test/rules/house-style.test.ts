/** Names that say nothing, the console, and the environment: each only where it belongs, which for two of them is nowhere. */
import assert from "node:assert/strict";
import { basename } from "node:path";
import test from "node:test";
import ts from "typescript";
import { nodesOf, placeOf, sourceFiles } from "../support/source-files.js";

const bannedWords = new Set([
  "manager",
  "helper",
  "helpers",
  "util",
  "utils",
  "common",
  "misc",
  "base",
  "core",
  "impl",
]);
const bannedFiles = new Set(["types.ts", "interfaces.ts", "constants.ts"]);
// The emitter of types, not a bucket of them.
const rightlyCalledTypes = "codegen/emit/types.ts";
const everywhere = ["src", "codegen", "migrations", "docs", "test", "bench", "examples"];

function bannedIn(name: string): string | undefined {
  const words = name.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
  return words.find((word) => bannedWords.has(word.toLowerCase()));
}

// What others may come to know. A variable inside a function is nobody else's business.
function isDeclared(node: ts.Node): node is ts.Identifier {
  if (!ts.isIdentifier(node)) return false;
  const { parent } = node;
  if (ts.isVariableDeclaration(parent)) return parent.name === node && ts.isSourceFile(parent.parent.parent.parent);
  const declares =
    ts.isFunctionDeclaration(parent) ||
    ts.isClassDeclaration(parent) ||
    ts.isInterfaceDeclaration(parent) ||
    ts.isTypeAliasDeclaration(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isPropertySignature(parent);
  return declares && parent.name === node;
}

test("file names say what a file is", () => {
  const faults = sourceFiles(...everywhere)
    .map(({ path }) => path)
    .filter((path) => path !== rightlyCalledTypes)
    .filter((path) => bannedFiles.has(basename(path)) || bannedIn(path) !== undefined || isFolderIndex(path));
  assert.deepEqual(faults, []);
});

function isFolderIndex(path: string): boolean {
  return basename(path) === "index.ts" && path !== "src/index.ts";
}

test("declared names say what a thing is", () => {
  const faults: string[] = [];
  for (const file of sourceFiles(...everywhere)) {
    for (const node of nodesOf(file.tree)) {
      if (isDeclared(node) && bannedIn(node.text) !== undefined) faults.push(`${placeOf(file, node)}: ${node.text}`);
    }
  }
  assert.deepEqual(faults, []);
});

test("nobody writes to the console, and the environment is read only in cli/, in embedded/, and for POSTRIDER_BACKEND", () => {
  const faults: string[] = [];
  for (const file of sourceFiles("src", "codegen")) {
    const mayRead = /^src\/((cli|embedded)\/|client-options\.ts$)/.test(file.path);
    for (const node of nodesOf(file.tree)) {
      if (!ts.isPropertyAccessExpression(node)) continue;
      const text = `${node.expression.getText()}.${node.name.text}`;
      const isFault = node.expression.getText() === "console" || (text === "process.env" && !mayRead);
      if (isFault) faults.push(`${placeOf(file, node)}: ${text}`);
    }
  }
  assert.deepEqual(faults, []);
});

test("there is no default export, and nothing is exported as a whole", () => {
  const faults: string[] = [];
  for (const file of sourceFiles(...everywhere)) {
    for (const node of nodesOf(file.tree)) {
      if (ts.isExportAssignment(node)) faults.push(placeOf(file, node));
      if (ts.isExportDeclaration(node) && node.exportClause === undefined) faults.push(placeOf(file, node));
    }
  }
  assert.deepEqual(faults, []);
});
