import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { printedPages } from "../../docs/printed-pages.js";
import { errorTable } from "../../src/errors.js";
import { sourceFiles } from "../support/source-files.js";

for (const [name, text] of Object.entries(printedPages())) {
  test(`docs/${name} is what the code says (else: npm run docs)`, () => {
    assert.equal(readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8"), text);
  });
}

test("every error code that the code names is in the table", () => {
  const named = sourceFiles("src", "codegen").flatMap(({ text }) => text.match(/"ERR_[A-Z_]+"/g) ?? []);
  const unknown = new Set(named.map((code) => code.slice(1, -1)).filter((code) => !(code in errorTable)));
  assert.deepEqual([...unknown], []);
});
