import assert from "node:assert/strict";
import test from "node:test";
import knexOf from "knex";
import { fromKnex } from "postrider";
import { executorSuite } from "../../../src/testing/executor-suite.js";
import { testDatabase } from "../../support/database.js";

const { connectionString } = await testDatabase();
const knex = knexOf({ client: "pg", connection: connectionString, pool: { min: 0, max: 2 } });

const checks = executorSuite({
  connectionString,
  transaction: (body) => knex.transaction((trx) => body(fromKnex(trx))),
});
test("T6, J1 to J3: Knex", async (t) => {
  for (const { name, run } of checks) await t.test(name, run);
});

test("T6: Knex itself instead of its transaction is refused", () => {
  assert.throws(() => fromKnex(knex), { code: "ERR_PUBLISH_OPTIONS" });
});

// A test and not a hook: hooks run in order of registration, and the database's own, which looks for leaks, was the first.
test("the connections close", async () => void (await knex.destroy()));
