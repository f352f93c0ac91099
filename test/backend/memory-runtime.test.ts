/** A client on the memory backend delivers, delays, retries, divides and keeps transactions, as one on PostgreSQL does. */
import assert from "node:assert/strict";
import test from "node:test";
import { MemoryBackend } from "../../src/backend/memory/memory-backend.js";
import { createRuntime } from "../../src/create-runtime.js";
import { PostriderError } from "../../src/errors.js";
import type { QueueSettings } from "../../src/queue/queue.js";
import { Subject } from "../../src/testing/testing.js";
import { eventually } from "../support/eventually.js";

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const backoff = { initialMs: 5, factor: 1, maxMs: 5, jitter: 0 };

function client(backend: MemoryBackend, settings: Partial<QueueSettings> = {}) {
  const queues = [new Subject(backend).definition("q", { backoff, ...settings })];
  return createRuntime({ backend, queues, logger: silent, pollMs: 60_000 });
}

test("what one client publishes another delivers, at once, delayed, and again after a failure", async () => {
  const backend = new MemoryBackend();
  const [publisher, worker] = [client(backend), client(backend)];
  const seen: string[] = [];
  worker.queue("q").listen((messages, { attempt }) => {
    seen.push(`${messages.join()} ${attempt}`);
    if (messages.includes("bad") && attempt === 1) throw new Error("once");
  });
  await worker.start();
  await publisher.queue("q").publish("good");
  // Before the next one is there, or the two would share a call (D1).
  await eventually(() => seen.length === 1);
  await publisher.queue("q").publish("bad");
  await publisher.queue("q").publish("late", { delayMs: 30 });
  await eventually(() => seen.length === 4, { otherwise: () => seen.join("; ") });
  assert.deepEqual(seen.toSorted(), ["bad 1", "bad 2", "good 1", "late 1"]);
  await eventually(async () => (await backend.inspector.depths())[0]?.processing === 0);
  await publisher.stop();
  await worker.stop();
});

test("D4: one bad message of a batch dies alone, after a last attempt alone", async () => {
  const backend = new MemoryBackend();
  const mq = client(backend, { maxAttempts: 2, concurrency: 2 });
  const calls: string[] = [];
  mq.queue("q").listen((messages) => {
    calls.push(messages.join());
    if (messages.includes("b")) throw new Error("b is bad");
  });
  await mq.start();
  await mq.queue("q").publish.many(["a", "b", "c"]);
  await eventually(async () => (await backend.inspector.dead({ queue: "q" })).length === 1);
  await eventually(() => calls.length === 5);
  assert.deepEqual(calls.toSorted(), ["a", "a,b,c", "a,b,c", "b", "c"]);
  const [letter] = await backend.inspector.dead({ queue: "q" });
  assert.deepEqual([letter?.payload, letter?.messageIds], ['["b"]', ["1.1"]]);
  await mq.stop();
});

test("R5: a batch of several with two crashes is divided before it runs, and its parts run alone in their queue", async () => {
  const backend = new MemoryBackend();
  const subject = new Subject(backend);
  await subject.register({ staleAfterMs: 1 }, "q");
  await subject.publish("q", ["a", "b"]);
  for (let crashes = 0; crashes < 2; crashes += 1) {
    await subject.claimOne("q");
    await subject.until(async () => (await subject.poll([], { recover: true })).recovered.length > 0, "no recovery");
  }
  const mq = client(backend, { concurrency: 4 });
  const calls: string[] = [];
  let running = 0;
  let most = 0;
  mq.queue("q").listen(async (messages) => {
    running += 1;
    most = Math.max(most, running);
    calls.push(messages.join());
    await new Promise(setImmediate);
    running -= 1;
  });
  await mq.start();
  await eventually(() => calls.length === 2);
  assert.deepEqual(calls.toSorted(), ["a", "b"]);
  assert.equal(most, 1);
  await mq.stop();
});

test("transactions collect, and there is no database to query", async () => {
  const backend = new MemoryBackend();
  const mq = client(backend);
  const lost = mq.transaction(async () => {
    await mq.queue("q").publish("lost");
    throw new Error("rolled back");
  });
  await assert.rejects(lost, /rolled back/);
  let after = 0;
  await mq.transaction(async () => {
    await mq.queue("q").publish("kept");
    mq.afterCommit(() => {
      after += 1;
    });
    assert.equal((await backend.inspector.peek("q", "pending")).length, 0);
  });
  assert.deepEqual(
    [after, (await backend.inspector.peek("q", "pending")).map(({ payload }) => payload)],
    [1, ['["kept"]']],
  );
  await assert.rejects(
    mq.transaction(({ query }) => query("select 1")),
    (error) => error instanceof PostriderError && error.code === "ERR_NO_DATABASE",
  );
  const tx = { query: async () => ({ rows: [] }) };
  await assert.rejects(mq.queue("q").publish("x", { tx }), { code: "ERR_NO_DATABASE" });
  await mq.stop();
});

test("M6: backend takes two words or an object", () => {
  assert.throws(() => createRuntime({ backend: "mysql" as "memory", queues: [] }), {
    code: "ERR_CLIENT_OPTIONS",
    message: 'backend must be "postgres", "memory" or an object, found "mysql"',
  });
  createRuntime({ backend: "memory", queues: [] });
  createRuntime({ backend: "postgres", connectionString: "postgres://nowhere/x", queues: [] });
});
