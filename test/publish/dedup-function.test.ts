/** The client's own rule for repeats (P10). */
import assert from "node:assert/strict";
import test from "node:test";
import { createRuntime } from "../../src/create-runtime.js";
import { heard, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, numbersOf } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
const numberOf = (message: unknown) => (message as { n: number }).n;

test("P10 the client's function chooses in many, collect and transactions, in place of the queue's rule", async (t) => {
  // Whatever order it returns, the kept ones keep their places; the queue's own rule would keep one message only.
  const queue = testQueue("chosen", { dedup: { by: ["/key"], keep: "first" } });
  const dedup = { chosen: (all: readonly unknown[]) => all.filter((one) => numberOf(one) % 2 === 0).reverse() };
  const mq = testClient(t, { connectionString, queues: [queue], dedup });
  const dropped = heard(mq, "deduplicated");
  const { publish } = mq.queue("chosen");
  const messages = [1, 2, 3, 4].map((n) => ({ n, key: "same" }));

  assert.equal((await publish.many(messages)).stored, 2);
  await publish.collect((put) => [5, 6, 8].forEach((n) => void put({ n })));
  await mq.transaction(async () => {
    for (const n of [9, 10, 12]) await publish({ n });
  });
  assert.deepEqual(numbersOf(await batchesOf(pool, "chosen")), [2, 4, 6, 8, 10, 12]);
  assert.deepEqual(
    dropped.map(({ messages: count }) => count),
    [2, 1, 1],
  );
});

test("P10, P1 it is shown what will be stored, and cannot change it", async (t) => {
  const spoil = (all: readonly unknown[]) => {
    for (const one of all) (one as { n: number }).n += 100;
    return all;
  };
  const mq = testClient(t, { connectionString, queues: [testQueue("spoilt")], dedup: { spoilt: spoil } });
  const messages = [{ n: 1 }, { n: 2 }];
  await mq.queue("spoilt").publish.many(messages);
  assert.deepEqual(numbersOf(await batchesOf(pool, "spoilt")), [1, 2]);
  assert.deepEqual(messages, [{ n: 1 }, { n: 2 }]);
});

test("P10 nothing kept, nothing stored; what it was not given is refused; an unknown queue is said at once", async (t) => {
  const queues = [testQueue("none-kept"), testQueue("invented")];
  const dedup = { "none-kept": () => [], invented: () => [{ n: 7 }] };
  const mq = testClient(t, { connectionString, queues, dedup });
  const messages = [{ n: 1 }, { n: 2 }];
  assert.deepEqual(await mq.queue("none-kept").publish.many(messages), { stored: 0, batchIds: [] });
  await assert.rejects(mq.queue("invented").publish.many(messages), { code: "ERR_CLIENT_OPTIONS" });
  const failing = mq.transaction(() => mq.queue("invented").publish.many(messages));
  await assert.rejects(failing, { code: "ERR_CLIENT_OPTIONS" });
  const { rows } = await pool.query("select 1 from postrider.queue_message_batch where queue_name = any($1)", [
    ["none-kept", "invented"],
  ]);
  assert.equal(rows.length, 0);
  assert.throws(() => createRuntime({ queues, dedup: { invnted: () => [] } }), { code: "ERR_CLIENT_OPTIONS" });
});
