import assert from "node:assert/strict";
import test from "node:test";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { fromKysely } from "postrider";
import { executorSuite } from "../../../src/testing/executor-suite.js";
import { testDatabase } from "../../support/database.js";

const { connectionString } = await testDatabase();
const db = new Kysely<object>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString, max: 2 }) }) });

const checks = executorSuite({
  connectionString,
  transaction: (body) => db.transaction().execute((trx) => body(fromKysely(trx))),
});
test("T6, J1 to J3: Kysely", async (t) => {
  for (const { name, run } of checks) await t.test(name, run);
});

test("T6: the database instead of its transaction is refused", () => {
  assert.throws(() => fromKysely(db), { code: "ERR_PUBLISH_OPTIONS" });
});

// A test and not a hook: hooks run in order of registration, and the database's own, which looks for leaks, was the first.
test("the connections close", async () => void (await db.destroy()));
