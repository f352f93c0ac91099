/** Several stored batches in one handler call (D1), and what becomes of each of them. */
import assert from "node:assert/strict";
import test from "node:test";
import { DeadLetter } from "../../src/errors.js";
import type { Runtime } from "../../src/runtime.js";
import { heard, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";
import { batchesOf, deadOf, numbersOf, upTo } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
const isGone = (queue: string) => eventually(async () => (await batchesOf(pool, queue)).length === 0);
const numbers = (messages: readonly unknown[]) => (messages as readonly TestMessage[]).map(({ n }) => n);

/** A client that is not started yet, with that many batches of one message waiting. */
async function waiting(t: test.TestContext, definition: ReturnType<typeof testQueue>, count: number): Promise<Runtime> {
  const mq = testClient(t, { queues: [definition], connectionString, pollMs: 600_000 });
  for (const n of upTo(count)) await mq.queue(definition.name).publish({ n });
  assert.equal((await batchesOf(pool, definition.name)).length, count);
  return mq;
}

test("D1 batches that never failed share a call up to maxBatchMessages, in order, and success deletes them all", async (t) => {
  const mq = await waiting(t, testQueue("merged", { maxBatchMessages: 4 }), 10);
  const calls: unknown[] = [];
  const handled = heard(mq, "handled");
  mq.queue("merged").listen((messages, { ids, batchIds, headers, publishedAt }) => {
    calls.push(numbers(messages));
    assert.deepEqual(
      ids,
      batchIds.map((id) => `${id}.0`),
    );
    assert.deepEqual([headers.length, publishedAt.length], [messages.length, messages.length]);
  });
  await mq.start();
  await isGone("merged");
  assert.deepEqual(calls, [
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9],
  ]);
  assert.deepEqual(
    handled.map(({ batchIds }) => batchIds.length),
    [4, 4, 2],
  );
});

test("D1 a call holds no more bytes than maxBatchBytes, and no batch is split to fill one", async (t) => {
  const definition = testQueue("merged-bytes", { maxBatchMessages: 100, maxBatchBytes: 1_024 });
  const mq = testClient(t, { queues: [definition], connectionString, pollMs: 600_000 });
  for (const n of upTo(5)) await mq.queue("merged-bytes").publish({ n, text: "x".repeat(400) });
  const calls: unknown[] = [];
  mq.queue("merged-bytes").listen((messages) => void calls.push(numbers(messages)));
  await mq.start();
  await isGone("merged-bytes");
  assert.deepEqual(calls, [[0, 1], [2, 3], [4]]);
});

test("D2 a throw fails every batch of the call, and from then on each runs alone", async (t) => {
  const mq = await waiting(t, testQueue("merged-throw", { backoff: { initialMs: 1, maxMs: 1 } }), 3);
  const calls: [number, number[]][] = [];
  const retried = heard(mq, "retried");
  mq.queue("merged-throw").listen((messages, { attempt }) => {
    calls.push([attempt, numbers(messages)]);
    if (attempt === 1) throw new Error("not yet");
  });
  await mq.start();
  await isGone("merged-throw");
  assert.deepEqual(calls[0], [1, [0, 1, 2]]);
  assert.deepEqual(
    calls.slice(1).sort((a, b) => Number(a[1][0]) - Number(b[1][0])),
    [0, 1, 2].map((n) => [2, [n]]),
  );
  assert.equal(retried.length, 3);
});

test("D3 the indexes a call answers are those of its batches: what is done is deleted, what failed waits", async (t) => {
  const mq = await waiting(t, testQueue("merged-part", { backoff: { initialMs: 3_600_000 } }), 2);
  await mq.queue("merged-part").publish.many([{ n: 2 }, { n: 3 }, { n: 4 }]);
  let calls = 0;
  mq.queue("merged-part").listen((messages) => {
    calls += 1;
    assert.deepEqual(numbers(messages), [0, 1, 2, 3, 4]);
    return { failed: [1, 3] };
  });
  const retried = heard(mq, "retried");
  await mq.start();
  await eventually(() => retried.length === 2);
  const rows = await batchesOf(pool, "merged-part");
  assert.deepEqual(
    rows.map((row) => numbersOf([row])),
    [[1], [3]],
  );
  assert.deepEqual(
    rows.map(({ failures }) => failures),
    [1, 1],
  );
  assert.equal(calls, 1);
});

test("D5 giving up a call gives up each of its batches", async (t) => {
  const mq = await waiting(t, testQueue("merged-dead"), 3);
  mq.queue("merged-dead").listen(() => {
    throw new DeadLetter("never");
  });
  await mq.start();
  await isGone("merged-dead");
  assert.deepEqual(
    (await deadOf(pool, "merged-dead")).map(({ reason }) => reason),
    ["rejected", "rejected", "rejected"],
  );
});

test("D6 an invalid message among merged batches dies alone, with its own batch's id", async (t) => {
  const mq = await waiting(t, testQueue("merged-invalid"), 1);
  await pool.query(`select postrider.publish('merged-invalid', '[{"n":"two"}]')`);
  await mq.queue("merged-invalid").publish({ n: 3 });
  const calls: unknown[] = [];
  mq.queue("merged-invalid").listen((messages) => void calls.push(numbers(messages)));
  await mq.start();
  await isGone("merged-invalid");
  assert.deepEqual(calls, [[0, 3]]);
  assert.equal((await deadOf(pool, "merged-invalid")).length, 1);
});

test("R1 a batch of a call that is taken over aborts the call; the others are settled, and what it throws is no failure of theirs", async (t) => {
  const definition = testQueue("merged-lost");
  const queues = [definition];
  const mq = testClient(t, { queues, connectionString, pollMs: 600_000, heartbeatMs: 50 });
  for (const n of upTo(3)) await mq.queue("merged-lost").publish({ n });
  const [lost, failed] = [nextEvent(mq, "leaseLost"), heard(mq, "handlerFailed")];
  let calls = 0;
  mq.queue("merged-lost").listen(async (_, { signal, batchIds }) => {
    calls += 1;
    if (calls > 1) return;
    await pool.query("update postrider.queue_message_batch set claim_token = 1 where id = $1", [batchIds[1]]);
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  await mq.start();
  const { batchId } = await lost;
  await eventually(async () => (await batchesOf(pool, "merged-lost")).length === 1);
  const [row] = await batchesOf(pool, "merged-lost");
  assert.deepEqual([row?.id, row?.failures, failed], [batchId, 0, []]);
  assert.equal(calls, 2);
});

test("D3, D7 with each, merged batches share the slot, and each is settled when its own messages have ended", async (t) => {
  const mq = await waiting(t, testQueue("merged-each", { concurrency: 2 }), 4);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let running = 0;
  let most = 0;
  mq.queue("merged-each").listen.each(async (message) => {
    running += 1;
    most = Math.max(most, running);
    if ((message as TestMessage).n === 0) await held;
    running -= 1;
  });
  await mq.start();
  await eventually(async () => (await batchesOf(pool, "merged-each")).length === 1);
  release();
  await isGone("merged-each");
  assert.equal(most, 2);
});

test("E1 an exclusive queue's batches never share a call", async (t) => {
  const mq = await waiting(t, testQueue("merged-exclusive", { exclusive: true }), 3);
  const calls: unknown[] = [];
  mq.queue("merged-exclusive").listen((messages) => void calls.push(numbers(messages)));
  await mq.start();
  await isGone("merged-exclusive");
  assert.deepEqual(calls, [[0], [1], [2]]);
});
