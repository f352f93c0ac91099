/** E1, N2: eight nodes on one exclusive queue; the database itself counts how many handlers run. */
import assert from "node:assert/strict";
import test from "node:test";
import { testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
const queue = "one-at-a-time";
/** The full form is two thousand, in a minute: POSTRIDER_EXCLUSIVE_BATCHES says how many. */
const batches = Number(process.env.POSTRIDER_EXCLUSIVE_BATCHES ?? 400);
const nodes = 8;

test(`E1, N2 ${nodes} nodes, ${batches} batches of an exclusive queue: never two at once, each once`, {
  timeout: 300_000,
}, async (t) => {
  await pool.query("create table running (now int not null, most int not null, total int not null)");
  await pool.query("insert into running values (0, 0, 0)");
  const queues = [testQueue(queue, { exclusive: true, maxBatchMessages: 1 })];
  const byNode = Array.from({ length: nodes }, () => 0);
  // Whoever has just acknowledged looks first, and would have it all: the others look often enough to get in between.
  for (let node = 0; node < nodes; node += 1) {
    const mq = testClient(t, { queues, connectionString, poolSize: 2, pollMs: 30 });
    mq.queue(queue).listen(async () => {
      byNode[node] = (byNode[node] ?? 0) + 1;
      await pool.query("update running set now = now + 1, most = greatest(most, now + 1), total = total + 1");
      await pool.query("update running set now = now - 1");
    });
    await mq.start();
  }
  const sql = `select postrider.publish($1, format('[{"n":%s}]', n)) from generate_series(1, $2::int) n`;
  await pool.query(sql, [queue, batches]);
  const left = async () => (await batchesOf(pool, queue)).length;
  await eventually(async () => (await left()) === 0, {
    timeoutMs: 240_000,
    everyMs: 200,
    otherwise: async () => `${await left()} batches are left`,
  });
  const { rows } = await pool.query("select now, most, total from running");
  t.diagnostic(`by node: ${byNode.join()}`);
  assert.deepEqual(rows, [{ now: 0, most: 1, total: batches }]);
  assert.ok(byNode.filter((count) => count > 0).length > 1, "only one node had work: nothing competed");
});
