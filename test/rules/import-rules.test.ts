/** Who may import whom: `ground <- things <- ports <- pure rules <- steps <- implementations <- doors <- outside`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import test from "node:test";
import ts from "typescript";
import { type SourceFile, sourceFiles } from "../support/source-files.js";

// The first pattern that matches a path says its layer; later layers may import earlier ones.
const layers: readonly (readonly [string, RegExp])[] = [
  ["ground", /^src\/(errors|time|service|instrument)\.ts$/],
  ["things", /^src\/(batch|queue|chain)\//],
  [
    "ports",
    /^src\/(backend\/(backend|inspector|progress-store|schedule-book|chain-view)\.ts|transaction\/|wake\/signal\.ts)/,
  ],
  ["pure rules", /^src\/deliver\/(outcome|backoff)\.ts/],
  ["steps", /^src\/(publish|wake|poll|deliver|schedule|progress|inspect)\//],
  ["implementations", /^src\/(backend\/(postgres|memory)|metrics|tracing|embedded)\//],
  ["doors", /^src\/[a-z-]+\.ts$/],
  ["outside", /^src\/(cli|dashboard|testing)\//],
];
// In these layers, files of one folder may import each other, and nobody else's of the same layer.
const separate = new Set(["steps", "implementations", "outside"]);

function layerOf(path: string): number {
  return layers.findIndex(([, pattern]) => pattern.test(path));
}

function importsOf({ text }: SourceFile): readonly string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}

function target(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, ".ts");
}

function faultOf(from: string, to: string): string | undefined {
  const [mine, theirs] = [layerOf(from), layerOf(to)];
  const name = layers[mine]?.[0] ?? "";
  if (to.startsWith("codegen/")) return from.startsWith("src/cli/") ? undefined : "only cli/ may import codegen/";
  if (theirs > mine) return `${name} may not import ${layers[theirs]?.[0]}`;
  const isNeighbour = posix.dirname(from) === posix.dirname(to) || folderOf(from) === folderOf(to);
  if (theirs === mine && separate.has(name) && !isNeighbour) return `${name} never import each other`;
  return undefined;
}

// src/backend/postgres and src/backend/memory are two folders; everything else is one by its first name.
function folderOf(path: string): string {
  return /^src\/(backend\/\w+|\w+)\//.exec(path)?.[1] ?? "";
}

test("every file in src/ has a layer", () => {
  assert.deepEqual(
    sourceFiles("src")
      .filter(({ path }) => layerOf(path) === -1)
      .map(({ path }) => path),
    [],
  );
});

test("imports go down the layers, and steps never import each other", () => {
  const faults: string[] = [];
  for (const file of sourceFiles("src")) {
    for (const specifier of importsOf(file).filter((name) => name.startsWith("."))) {
      const to = target(file.path, specifier);
      const fault = faultOf(file.path, to);
      const line = `${file.path} imports ${to}`;
      if (fault !== undefined) faults.push(`${line}: ${fault}`);
    }
  }
  assert.deepEqual(faults, []);
});

test("codegen/ imports from src/ only what a queue is", () => {
  const faults = sourceFiles("codegen").flatMap((file) =>
    importsOf(file)
      .filter((name) => name.startsWith("."))
      .map((name) => target(file.path, name))
      .filter((to) => to.startsWith("src/") && !to.startsWith("src/queue/"))
      .map((to) => `${file.path} imports ${to}`),
  );
  assert.deepEqual(faults, []);
});

test("src/ imports only packages that a production install has", () => {
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  ) as Record<"dependencies" | "peerDependencies", Record<string, string>>;
  const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
  const faults = sourceFiles("src").flatMap((file) =>
    importsOf(file)
      .filter((name) => !/^(\.|node:)/.test(name))
      .filter((name) => !known.has(name.startsWith("@") ? name.split("/", 2).join("/") : (name.split("/")[0] ?? "")))
      .map((name) => `${file.path} imports ${name}`),
  );
  assert.deepEqual(faults, []);
});
