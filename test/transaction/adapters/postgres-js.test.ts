import assert from "node:assert/strict";
import test from "node:test";
import postgres from "postgres";
import { fromPostgresJs } from "postrider";
import { executorSuite } from "../../../src/testing/executor-suite.js";
import { testDatabase } from "../../support/database.js";

const { connectionString } = await testDatabase();
const prepared = postgres(connectionString, { max: 2, onnotice: () => undefined });
const unprepared = postgres(connectionString, { max: 2, prepare: false, onnotice: () => undefined });

for (const [kind, sql] of Object.entries({ prepared, unprepared })) {
  const checks = executorSuite({
    connectionString,
    transaction: async (body) => void (await sql.begin((transaction) => body(fromPostgresJs(transaction)))),
  });
  test(`T6, J1 to J3, B4: postgres.js, ${kind}`, async (t) => {
    for (const { name, run } of checks) await t.test(name, run);
  });
}

test("T6: the pool instead of its transaction is refused", () => {
  assert.throws(() => fromPostgresJs(prepared), { code: "ERR_PUBLISH_OPTIONS" });
});

// A test and not a hook: hooks run in order of registration, and the database's own, which looks for leaks, was the first.
test("the connections close", async () => void (await Promise.all([prepared.end(), unprepared.end()])));
