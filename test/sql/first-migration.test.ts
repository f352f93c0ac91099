import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { assembleParts, committedText, isFirstPending } from "../../migrations/assemble.js";

const root = join(import.meta.dirname, "..", "..", "migrations");

test("until its release, committed/000001.sql is what its sources make (else: npm run migrate:build)", async (t) => {
  if (!(await isFirstPending(root))) return t.skip("released");
  assert.equal(await readFile(join(root, "committed", "000001.sql"), "utf8"), committedText(await assembleParts(root)));
});
