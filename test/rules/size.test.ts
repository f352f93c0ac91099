/** A file is a role, a function fits a screen. The lists of exceptions are empty and stay so. */
import assert from "node:assert/strict";
import test from "node:test";
import ts from "typescript";
import { nodesOf, placeOf, type SourceFile, sourceFiles } from "../support/source-files.js";

const fileLines = 300;
const functionLines = 70;
const folders = ["src", "codegen"];

function linesOf({ tree }: SourceFile, node: ts.Node): number {
  const line = (position: number) => tree.getLineAndCharacterOfPosition(position).line;
  return line(node.getEnd()) - line(node.getStart()) + 1;
}

test(`no file in ${folders.join(" and ")} is over ${fileLines} lines`, () => {
  const faults = sourceFiles(...folders)
    .map((file) => ({ path: file.path, lines: linesOf(file, file.tree) }))
    .filter(({ lines }) => lines > fileLines)
    .map(({ path, lines }) => `${path}: ${lines} lines`);
  assert.deepEqual(faults, []);
});

test(`no function in ${folders.join(" and ")} is over ${functionLines} lines`, () => {
  const faults: string[] = [];
  for (const file of sourceFiles(...folders)) {
    for (const node of nodesOf(file.tree)) {
      if (!ts.isFunctionLike(node) || linesOf(file, node) <= functionLines) continue;
      faults.push(`${placeOf(file, node)}: ${linesOf(file, node)} lines`);
    }
  }
  assert.deepEqual(faults, []);
});
