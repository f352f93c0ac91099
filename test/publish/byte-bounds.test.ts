/** Large messages, and batches at the very bound (P11, L2). */
import assert from "node:assert/strict";
import test from "node:test";
import { testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, numbersOf, upTo } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();

/** A message whose JSON has exactly so many bytes. */
function sized(n: number, bytes: number): { readonly n: number; readonly text: string } {
  const empty = JSON.stringify({ n, text: "" });
  return { n, text: "x".repeat(bytes - empty.length) };
}

test("P11 5 MB messages, where the queue allows them, each in a row of its own, in order", async (t) => {
  const queue = testQueue("huge", { maxBatchBytes: 6 * 1024 * 1024 });
  const mq = testClient(t, { connectionString, queues: [queue] });
  const size = 5 * 1024 * 1024;
  await Promise.all(upTo(3).map((n) => mq.queue("huge").publish(sized(n, size))));
  await mq.queue("huge").publish.many([sized(3, size), sized(4, size)]);
  await mq.transaction(async () => {
    await mq.queue("huge").publish(sized(5, size));
    await mq.queue("huge").publish(sized(6, size));
  });
  const batches = await batchesOf(pool, "huge");
  assert.deepEqual(numbersOf(batches), upTo(7));
  assert.deepEqual(
    batches.map(({ payload }) => payload.length),
    upTo(7).map(() => size + 2),
  );
});

test("P11, P5 1,000 messages of 10 KB: rows within both bounds, order kept, alone or together", async (t) => {
  const queue = testQueue("heavy");
  const mq = testClient(t, { connectionString, queues: [queue] });
  const messages = upTo(1_000).map((n) => sized(n, 10_240));
  await mq.queue("heavy").publish.many(messages.slice(0, 500));
  await Promise.all(messages.slice(500).map((message) => mq.queue("heavy").publish(message)));
  const batches = await batchesOf(pool, "heavy");
  assert.deepEqual(numbersOf(batches), upTo(1_000));
  for (const { payload, message_count } of batches) {
    assert.ok(payload.length <= queue.settings.maxBatchBytes && message_count <= queue.settings.maxBatchMessages);
  }
});

test("P11 a batch at exactly the bound is one row; one byte over is two; one message over it is refused", async (t) => {
  const bound = 2_048;
  const mq = testClient(t, { connectionString, queues: [testQueue("brim", { maxBatchBytes: bound })] });
  const { publish } = mq.queue("brim");
  // Two messages in a batch: brackets and a comma are three bytes more.
  await publish.many([sized(0, 1_000), sized(1, bound - 3 - 1_000)]);
  await publish.many([sized(2, 1_000), sized(3, bound - 3 - 1_000 + 1)]);
  await publish(sized(4, bound - 2));
  for (const options of [undefined, { delayMs: 1 }]) {
    await assert.rejects(publish(sized(5, bound - 1), options), { code: "ERR_MESSAGE_TOO_LARGE" });
  }
  await assert.rejects(publish.many([sized(6, 100), sized(7, bound - 1)]), { code: "ERR_MESSAGE_TOO_LARGE" });
  const batches = await batchesOf(pool, "brim");
  assert.deepEqual(
    batches.map((batch) => numbersOf([batch])),
    [[0, 1], [2], [3], [4]],
  );
  assert.deepEqual([batches[0]?.payload.length, batches[3]?.payload.length], [bound, bound]);
});

test("P11 the bound counts bytes and not characters", async (t) => {
  const mq = testClient(t, { connectionString, queues: [testQueue("wide", { maxBatchBytes: 1_024 })] });
  const { publish } = mq.queue("wide");
  await assert.rejects(publish({ n: 0, text: "😀".repeat(300) }), { code: "ERR_MESSAGE_TOO_LARGE" });
  await publish.many(upTo(10).map((n) => ({ n, text: "ü".repeat(200) })));
  const batches = await batchesOf(pool, "wide");
  assert.deepEqual(numbersOf(batches), upTo(10));
  for (const { payload } of batches) assert.ok(Buffer.byteLength(payload) <= 1_024);
});
