/** docs/operations.md lists the metrics there are, each once. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { sourceFiles } from "../support/source-files.js";

const names = (text: string) => text.match(/postrider_[a-z_]+_?[a-z]+/g) ?? [];

test("the operator's page names every metric that src/metrics registers", () => {
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "operations.md"), "utf8");
  const table = page.split("\n").filter((line) => line.startsWith("| `postrider_"));
  const registered = sourceFiles("src/metrics").flatMap(({ text }) => names(text));
  assert.deepEqual(names(table.join("\n")).sort(), [...new Set(registered)].sort());
});
