/** Rule D6: a queue in which everything dies of its schema is left alone, so that a bad deploy buries no backlog. */
import assert from "node:assert/strict";
import test from "node:test";
import { MemoryBackend } from "../../src/backend/memory/memory-backend.js";
import { Subject } from "../../src/testing/testing.js";
import { onBothBackends } from "../support/both-backends.js";
import { keptLog, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { testQueue } from "../support/queue-definition.js";

const db = await testDatabase();

const rowsOf = async (backend: MemoryBackend) => {
  const { pending = 0, dead = 0 } = (await backend.inspector.depths()).find(({ queue }) => queue === "q") ?? {};
  return { pending, dead };
};

async function publishRaw(backend: MemoryBackend, messages: readonly unknown[]): Promise<void> {
  const subject = new Subject(backend);
  for (const message of messages) await subject.publish("q", [message]);
}

test("D6 after 100 batches that all died of `schema` the node claims the queue no more, until it is resumed", async (t) => {
  const backend = new MemoryBackend();
  const logger = keptLog();
  const mq = testClient(t, { backend, queues: [testQueue("q", { maxBatchMessages: 10 })], logger });
  await publishRaw(backend, Array(150).fill({ n: "wrong" }));
  const handled: unknown[] = [];
  mq.queue("q").listen((messages) => void handled.push(...messages));
  const refused = nextEvent(mq, "refused");
  await mq.start();
  assert.deepEqual(await refused, { queue: "q", batches: 100 });
  await publishRaw(backend, [{ n: 1 }]);
  // A round that claims nothing is the proof that it was not just slow.
  await nextEvent(mq, "polled", ({ result }) => result === "empty");
  const { pending, dead } = await rowsOf(backend);
  assert.ok(dead >= 100 && dead < 120 && pending + dead === 151, `${dead} dead, ${pending} waiting`);
  assert.deepEqual([mq.health().refused, handled], [["q"], []]);
  assert.equal(logger.lines.filter(({ level }) => level === "error").length, 1);
  await mq.inspect.resume("q");
  await eventually(async () => (await rowsOf(backend)).pending === 0);
  await eventually(() => handled.length === 1);
  assert.deepEqual([(await rowsOf(backend)).dead, mq.health().refused], [150, undefined]);
});

test("D6 batches that reach a handler in between keep the queue going", async (t) => {
  const backend = new MemoryBackend();
  const mq = testClient(t, { backend, queues: [testQueue("q", { maxBatchMessages: 1 })] });
  const wrong = Array(60).fill({ n: "wrong" });
  await publishRaw(backend, [...wrong, { n: 1 }, ...wrong, { n: 2 }]);
  const handled: unknown[] = [];
  mq.queue("q").listen((messages) => void handled.push(...messages));
  await mq.start();
  await eventually(() => handled.length === 2);
  assert.deepEqual([(await rowsOf(backend)).dead, mq.health().refused], [120, undefined]);
});

onBothBackends(
  db,
  "D6, J7 a refusal is seen from anywhere, and resuming from anywhere reaches every node",
  async (_, on) => {
    const queues = [testQueue("refused-by-all", { maxBatchMessages: 1 })];
    const nodes = [1, 2].map(() => on.client({ queues, pollMs: 40 }));
    const handled: unknown[] = [];
    const refusing = nodes.map((mq) => nextEvent(mq, "refused"));
    for (const mq of nodes) {
      mq.queue("refused-by-all").listen((messages) => void handled.push(...messages));
      await mq.start();
    }
    // As many as both may bury, and more: a node that goes on would bury them all.
    const subject = new Subject(on.backend);
    for (let n = 0; n < 210; n += 1) await subject.publish("refused-by-all", [{ n: "wrong" }]);
    await Promise.all(refusing);
    const operator = on.client({ queues });
    const refused = async () => (await operator.inspect.nodes()).flatMap(({ refused }) => refused);
    await eventually(async () => (await refused()).length === 2);
    await operator.queue("refused-by-all").publish({ n: 1 });
    assert.deepEqual(
      nodes.map((mq) => mq.health().refused),
      [["refused-by-all"], ["refused-by-all"]],
    );
    await operator.inspect.resume("refused-by-all");
    assert.deepEqual(await refused(), []);
    await eventually(() => nodes.every((mq) => mq.health().refused === undefined));
    await eventually(() => handled.length === 1);
  },
);
