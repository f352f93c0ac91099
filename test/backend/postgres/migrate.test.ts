import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import {
  checkMigrated,
  dropSchema,
  migrate,
  migrationStatus,
  printMigrations,
} from "../../../src/backend/postgres/migrate.js";
import { migrationHash } from "../../../src/backend/postgres/migration-files.js";
import { testDatabase } from "../../support/database.js";

const oddNames = ["Odd-Name", `it's "odd" \\ $1`, "naïve schema; drop", "ü".repeat(31)];
const first =
  "create table :SCHEMA.letter (id int);\ncreate function :SCHEMA.me() returns text language sql as $$ select :SCHEMA_LITERAL $$;\n";
const second = "alter table :SCHEMA.letter add column sent boolean;\n";

const db = await testDatabase({ empty: true });
let directory = await mkdtemp(join(tmpdir(), "postrider-migrations-"));
after(() => rm(directory, { recursive: true, force: true }));

async function commit(...bodies: readonly string[]): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  directory = await mkdtemp(join(tmpdir(), "postrider-migrations-"));
  let previous: string | null = null;
  for (const [index, body] of bodies.entries()) {
    const hash = migrationHash(body, previous);
    const text = `--! Previous: ${previous ?? "-"}\n--! Hash: ${hash}\n\n${body}`;
    await writeFile(join(directory, `00000${index + 1}.sql`), text);
    previous = hash;
  }
}

const options = (schema: string) => ({ database: { connectionString: db.connectionString }, schema, directory });

test("J8: ten nodes that boot at once apply each file once", async () => {
  await commit(first, second);
  const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(options("boot"))));
  assert.deepEqual(applied.flat().sort(), ["000001.sql", "000002.sql"]);
  assert.deepEqual(await migrate({ ...options("boot"), database: db.pool }), []);
  await checkMigrated(db.pool, "boot", directory);
});

for (const schema of oddNames) {
  test(`J8: a schema may be called ${schema}`, async () => {
    await commit(first);
    await migrate(options(schema));
    await checkMigrated(db.pool, schema, directory);
    const { rows } = await db.pool.query(`select "${schema.replaceAll('"', '""')}".me() as name`);
    assert.equal(rows[0].name, schema);
    await dropSchema(options(schema));
    await assert.rejects(checkMigrated(db.pool, schema, directory), { code: "ERR_NOT_MIGRATED" });
  });
}

for (const [name, why] of [
  ["", "empty"],
  ["ü".repeat(32), "64 bytes"],
  ["pg_mine", "pg_"],
  ["a\0b", "control"],
  ["a\nb", "control"],
  ["$a$", "dollar"],
] as const) {
  test(`J8: ${JSON.stringify(name)} is refused as a schema name`, async () => {
    await assert.rejects(migrate(options(name)), { code: "ERR_SCHEMA_NAME", message: new RegExp(why) });
  });
}

test("J8: a database that misses a file is not migrated, and its status says what is pending", async () => {
  await commit(first);
  await migrate(options("late"));
  await commit(first, second);
  await assert.rejects(checkMigrated(db.pool, "late", directory), { code: "ERR_NOT_MIGRATED", message: /000002/ });
  const states = await migrationStatus(db.pool, "late", directory);
  assert.deepEqual(
    states.map(({ name, state }) => [name, state]),
    [
      ["000001.sql", "applied"],
      ["000002.sql", "pending"],
    ],
  );
});

test("J8: a newer database is refused by migrate and at start", async () => {
  await commit(first, second);
  await migrate(options("newer"));
  await commit(first);
  await assert.rejects(migrate(options("newer")), { code: "ERR_DATABASE_NEWER" });
  await assert.rejects(checkMigrated(db.pool, "newer", directory), { code: "ERR_DATABASE_NEWER" });
  assert.equal((await migrationStatus(db.pool, "newer", directory)).at(-1)?.state, "unknown");
});

test("J8: a committed file that was changed is refused, whether its header was adapted or not", async () => {
  await commit(first);
  await migrate(options("changed"));
  await commit(second);
  await assert.rejects(migrate(options("changed")), { code: "ERR_MIGRATION_CHANGED", message: /was applied/ });
  const path = join(directory, "000001.sql");
  await writeFile(path, `${await readFile(path, "utf8")}-- a word more\n`);
  await assert.rejects(migrate(options("changed")), { code: "ERR_MIGRATION_CHANGED", message: /header/ });
});

test("a file that fails leaves nothing of itself behind, and those before it stay", async () => {
  await commit(first, "create table :SCHEMA.half (id int);\nselect 1 / 0;\n");
  await assert.rejects(migrate(options("half")), /division by zero/);
  const { rows } = await db.pool.query("select to_regclass('half.letter') as whole, to_regclass('half.half') as half");
  assert.deepEqual(rows, [{ whole: "half.letter", half: null }]);
});

test("a table that others hold fails the file after lock_timeout instead of stopping everybody behind it", async () => {
  await commit(first);
  await migrate(options("held"));
  await commit(first, second);
  const holder = await db.pool.connect();
  try {
    await holder.query("begin; lock table held.letter");
    await assert.rejects(migrate({ ...options("held"), lockTimeoutMs: 50 }), { code: "55P03" });
  } finally {
    await holder.query("rollback");
    holder.release();
  }
  assert.deepEqual(await migrate(options("held")), ["000002.sql"]);
});

test("--print is what migrate does", async () => {
  await commit(first, second);
  await db.pool.query(await printMigrations("By Hand", directory));
  assert.deepEqual(await migrate(options("By Hand")), []);
  await checkMigrated(db.pool, "By Hand", directory);
});
