/** D7: how many handler calls run at once. */
import assert from "node:assert/strict";
import test from "node:test";
import { nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { testQueue } from "../support/queue-definition.js";

const { connectionString, pool } = await testDatabase();

// Two batches of four each ran four calls: the limit held within a batch, and again between batches.
test("D7 with `each`, messages of several batches share the listener's concurrency", async (t) => {
  const mq = testClient(t, { queues: [testQueue("d7-each")], connectionString, pollMs: 600_000 });
  const queue = mq.queue("d7-each");
  for (let batch = 0; batch < 3; batch += 1) await queue.publish.many([{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }]);
  let running = 0;
  let most = 0;
  let left = 12;
  const done = new Promise<void>((resolve) => {
    queue.listen.each(
      async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((end) => setImmediate(end));
        running -= 1;
        left -= 1;
        if (left === 0) resolve();
      },
      { concurrency: 2 },
    );
  });
  await mq.start();
  await done;
  assert.equal(most, 2);
});

// Its time begins with its first call, and its delivery waited for the end of a time that never began.
test("D7, D11 a batch that is lost while it waits for its turn gives its slot back", { timeout: 10_000 }, async (t) => {
  const queues = [testQueue("d7-lost", { timeoutMs: 60_000 })];
  const mq = testClient(t, { queues, connectionString, pollMs: 600_000, heartbeatMs: 50 });
  const queue = mq.queue("d7-lost");
  await queue.publish.many([{ n: 0 }, { n: 1 }]);
  const { batchId } = await queue.publish({ n: 2 }, { alone: true });
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // Two calls of the first batch take both turns; the second batch is claimed, and waits.
  const claimed = nextEvent(mq, "claimed", (event) => event.batchId === batchId);
  const listener = queue.listen.each(() => ended, { concurrency: 2 });
  await mq.start();
  await claimed;
  const lost = nextEvent(mq, "leaseLost");
  await pool.query("update postrider.queue_message_batch set claim_token = 1 where id = $1", [batchId]);
  await lost;
  end();
  await listener.stop();
});
