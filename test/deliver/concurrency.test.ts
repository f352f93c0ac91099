/** D7: how many handler calls run at once. */
import assert from "node:assert/strict";
import test from "node:test";
import { testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { testQueue } from "../support/queue-definition.js";

const { connectionString } = await testDatabase();

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
