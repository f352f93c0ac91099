import assert from "node:assert/strict";
import test from "node:test";
import { fromTypeOrm } from "postrider";
import { DataSource } from "typeorm";
import { executorSuite } from "../../../src/testing/executor-suite.js";
import { testDatabase } from "../../support/database.js";

const { connectionString } = await testDatabase();
const dataSource = await new DataSource({ type: "postgres", url: connectionString, extra: { max: 2 } }).initialize();

const checks = executorSuite({
  connectionString,
  transaction: (body) => dataSource.transaction((entities) => body(fromTypeOrm(entities))),
});
test("T6, J1 to J3: TypeORM", async (t) => {
  for (const { name, run } of checks) await t.test(name, run);
});

test("T6: a query runner fits while its transaction is open, the data source's own manager never", async () => {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    const { rows } = await fromTypeOrm(runner).query(
      "update pg_class set relname = relname where false returning 1",
      [],
    );
    assert.deepEqual(rows, []);
    await runner.rollbackTransaction();
    assert.throws(() => fromTypeOrm(runner), { code: "ERR_PUBLISH_OPTIONS" });
  } finally {
    await runner.release();
  }
  assert.throws(() => fromTypeOrm(dataSource.manager), { code: "ERR_PUBLISH_OPTIONS" });
});

// A test and not a hook: hooks run in order of registration, and the database's own, which looks for leaks, was the first.
test("the connections close", async () => void (await dataSource.destroy()));
