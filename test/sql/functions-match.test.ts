import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";
import test from "node:test";
import { migrationSql } from "../../src/backend/postgres/migration-files.js";
import { schemaName } from "../../src/backend/postgres/schema-name.js";
import { testDatabase } from "../support/database.js";

const folder = new URL("../../migrations/functions/", import.meta.url);
const schema = schemaName("postrider");
const db = await testDatabase();

async function definitions(client: { query: typeof db.pool.query }): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select proname as name, string_agg(pg_get_functiondef(oid), E'\\n' order by oid) as definition
       from pg_proc where pronamespace = 'postrider'::regnamespace group by proname order by proname`,
  );
  return new Map(rows.map(({ name, definition }) => [name, definition]));
}

test("each function that the committed files make has its text in migrations/functions, and is that text", async () => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const client = await db.pool.connect();
  try {
    const committed = await definitions(client);
    assert.deepEqual(
      [...committed.keys()],
      names.map((name) => basename(name, ".sql")),
    );
    await client.query("begin");
    for (const name of names) {
      await client.query(migrationSql(await readFile(new URL(name, folder), "utf8"), schema));
    }
    const texts = await definitions(client);
    for (const [name, definition] of texts)
      assert.equal(committed.get(name), definition, `${name} (else: npm run migrate:build)`);
  } finally {
    await client.query("rollback");
    client.release();
  }
});
