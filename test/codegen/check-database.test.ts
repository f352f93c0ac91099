/** The gate against what a database has recorded, and against several bases at once. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { testDatabase } from "../support/database.js";
import { idSchema } from "./project.js";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
const database = await testDatabase();
const directory = mkdtempSync(join(tmpdir(), "postrider-check-"));
after(() => rmSync(directory, { recursive: true }));

const narrow = idSchema;
const wide = { ...idSchema, properties: { id: { type: ["string", "integer"] } } };

function folder(name: string, schema: object): string {
  const path = join(directory, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "a.json"), JSON.stringify(schema));
  return path;
}

function check(schemas: string, ...bases: string[]) {
  const against = bases.flatMap((base) => ["--against", base]);
  const node = ["--conditions=postrider-source", "--import", "tsx", main, "check", "--schemas", schemas, ...against];
  const env = { ...process.env, DATABASE_URL: database.connectionString };
  const { status, stdout, stderr } = spawnSync(process.execPath, node, { cwd: root, encoding: "utf8", env });
  return { status, text: stdout + stderr };
}

const asVersion = (schema: object, version: number) => ({ ...schema, "x-queue": { version } });

describe("check --against database", () => {
  before(async () => {
    const record =
      "insert into postrider.queue_version (queue_name, version, schema_hash, schema) values ($1, $2, $3, $4)";
    await database.pool.query(record, ["a", 1, "hash-of-wide", JSON.stringify(wide)]);
    await database.pool.query(record, ["a", 2, "hash-of-narrow", JSON.stringify(narrow)]);
  });

  it("looks past a version that no row has any more, and stops at one that a dead row has", async () => {
    const now = folder("now", asVersion(narrow, 3));
    const drained = check(now, "database");
    assert.equal(drained.status, 0, drained.text);
    const { rows } = await database.pool.query<{ column_name: string; data_type: string }>(
      `select column_name, data_type from information_schema.columns
        where table_schema = 'postrider' and table_name = 'dead_message_batch' and is_nullable = 'NO'
          and column_default is null and is_identity = 'NO' and column_name not in ('queue_name', 'version')`,
    );
    const zeros: Record<string, string> = { text: "'x'", jsonb: "'[]'", bytea: "''", json: "'[]'", ARRAY: "'{}'" };
    const values = rows.map(({ data_type }) => zeros[data_type] ?? (data_type.startsWith("timestamp") ? "now()" : "1"));
    const names = rows.map(({ column_name }) => column_name);
    await database.pool.query(
      `insert into postrider.dead_message_batch (queue_name, version, ${names}) values ('a', 1, ${values})`,
    );
    const held = check(now, "database");
    assert.equal(held.status, 1, held.text);
    assert.match(held.text, /against: database: queue "a" version 1, schema hash-of-wide \(1 batches\)/);
    assert.match(held.text, /witness: \{"id":-?\d+/);
  });

  it("refuses to do without a queue until it is drained, and says how much it holds", async () => {
    const without = join(directory, "without");
    mkdirSync(without, { recursive: true });
    writeFileSync(join(without, "other.json"), JSON.stringify(idSchema));
    const held = check(without, "database");
    assert.equal(held.status, 1, held.text);
    assert.match(held.text, /queue-removed {2}queue "a": the queue "a" is gone: 1 batches of it would be stranded/);
    await database.pool.query("delete from postrider.dead_message_batch");
    const drained = check(without, "database");
    assert.equal(drained.status, 0, drained.text);
    assert.match(drained.text, /queue-removed {2}\(warning\) queue "a": the queue "a" is gone, and empty/);
  });

  it("compares with every base that is given", () => {
    const now = folder("now", asVersion(narrow, 3));
    const [first, second] = [folder("first", wide), folder("second", narrow)];
    assert.equal(check(now, second).status, 0);
    const both = check(now, second, first);
    assert.equal(both.status, 1, both.text);
    assert.ok(both.text.includes(`against: ${first}`) && !both.text.includes(`against: ${second}`), both.text);
  });
});
