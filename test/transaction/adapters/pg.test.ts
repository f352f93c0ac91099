import test from "node:test";
import pg from "pg";
import { executorSuite } from "../../../src/testing/executor-suite.js";
import { testDatabase } from "../../support/database.js";

const { connectionString } = await testDatabase();
const pool = new pg.Pool({ connectionString, max: 2 });

const checks = executorSuite({
  connectionString,
  transaction: async (body) => {
    const client = await pool.connect();
    try {
      await client.query("begin");
      await body(client);
      await client.query("commit");
    } catch (error) {
      await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  },
});
test("T6, J1 to J3: a pg client as it is", async (t) => {
  for (const { name, run } of checks) await t.test(name, run);
});

// A test and not a hook: hooks run in order of registration, and the database's own, which looks for leaks, was the first.
test("the connections close", async () => void (await pool.end()));
