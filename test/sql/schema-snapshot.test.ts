import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { testDatabase } from "../support/database.js";
import { schemaText } from "../support/schema-text.js";

const db = await testDatabase();

test("migrations/schema.sql is what the committed files make (else: npm run migrate:build)", async () => {
  const snapshot = await readFile(new URL("../../migrations/schema.sql", import.meta.url), "utf8");
  assert.equal(await schemaText(db.pool), snapshot);
});
