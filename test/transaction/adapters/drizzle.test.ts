import assert from "node:assert/strict";
import test from "node:test";
import { drizzle } from "drizzle-orm/node-postgres";
import { drizzle as drizzleOnPostgresJs } from "drizzle-orm/postgres-js";
import pg from "pg";
import postgres from "postgres";
import { fromDrizzle } from "postrider";
import { executorSuite } from "../../../src/testing/executor-suite.js";
import { testDatabase } from "../../support/database.js";

const { connectionString } = await testDatabase();
const pool = new pg.Pool({ connectionString, max: 2 });
const sql = postgres(connectionString, { max: 2, onnotice: () => undefined });
const db = drizzle(pool);
const dbOnPostgresJs = drizzleOnPostgresJs(sql);

const onPg = executorSuite({ connectionString, transaction: (body) => db.transaction((tx) => body(fromDrizzle(tx))) });
test("T6, J1 to J3: Drizzle on pg", async (t) => {
  for (const { name, run } of onPg) await t.test(name, run);
});

const onPostgresJs = executorSuite({
  connectionString,
  transaction: (body) => dbOnPostgresJs.transaction((tx) => body(fromDrizzle(tx))),
});
test("T6, J1 to J3: Drizzle on postgres.js", async (t) => {
  for (const { name, run } of onPostgresJs) await t.test(name, run);
});

test("T6: the database instead of its transaction is refused", () => {
  assert.throws(() => fromDrizzle(db), { code: "ERR_PUBLISH_OPTIONS" });
});

// A test and not a hook: hooks run in order of registration, and the database's own, which looks for leaks, was the first.
test("the connections close", async () => void (await Promise.all([pool.end(), sql.end()])));
