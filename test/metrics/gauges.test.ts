/** Rule M2 in the database: the one statement behind the gauges, its bounds and its limit of time. */
import assert from "node:assert/strict";
import test from "node:test";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import { monotonicMs } from "../../src/time.js";
import { testDatabase } from "../support/database.js";

const { connectionString, pool } = await testDatabase();

const store = (queue: string, rows: number, delayMs = 0) =>
  pool.query(`select postrider.publish($1, '[1]', delay_ms => $3) from generate_series(1, $2)`, [queue, rows, delayMs]);

test("M2 exact up to the bound, above it the planner's estimate, never below what was counted", async () => {
  await store("few", 3);
  await store("many", 40);
  await store("later", 5, 3_600_000);
  await pool.query("analyze postrider.queue_message_batch");
  const { rows } = await pool.query(
    "select queue_name, pending::int, delayed::int, estimated from postrider.gauges(4) where queue_name = any ($1)",
    [["few", "many", "later"]],
  );
  const [few, later, many] = rows.toSorted((a, b) => (a.queue_name < b.queue_name ? -1 : 1));
  assert.deepEqual([few.pending, few.estimated], [3, []]);
  assert.deepEqual(many.estimated, ["pending"]);
  assert.ok(many.pending > 4 && many.pending <= 48, `an estimate near 40, found ${many.pending}`);
  assert.deepEqual(later.estimated, ["delayed"]);
  assert.ok(later.delayed >= 5, `at least what was counted, found ${later.delayed}`);
});

test("M2 the statement gives up after half a second, and leaves no limit behind on its connection", async (t) => {
  const backend = new PostgresBackend({ connectionString, poolSize: 1 });
  t.after(() => backend.close());
  const holder = await pool.connect();
  await holder.query("begin; lock table postrider.queue_message_batch in access exclusive mode");
  const startedAt = monotonicMs();
  await assert.rejects(backend.inspector.gauges(), { code: "57014" });
  const tookMs = monotonicMs() - startedAt;
  await holder.query("rollback");
  holder.release();
  assert.ok(tookMs >= 400 && tookMs < 5_000, `gave up after ${tookMs} ms`);
  // The pool has one connection, so this is the same one.
  assert.ok((await backend.inspector.gauges()).length >= 3);
  const transaction = await backend.begin();
  const { rows } = await transaction.executor.query("show statement_timeout");
  await transaction.rollback();
  assert.deepEqual(rows, [{ statement_timeout: "0" }]);
});
