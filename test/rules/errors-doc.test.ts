import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { printedPages } from "../../docs/printed-pages.js";

for (const [name, text] of Object.entries(printedPages())) {
  test(`docs/${name} is what the code says (else: npm run docs)`, () => {
    assert.equal(readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8"), text);
  });
}
