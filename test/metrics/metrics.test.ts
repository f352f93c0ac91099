/** Rule M2 in the process: what is counted, what gauges read, and clients that share one registry. */
import assert from "node:assert/strict";
import test from "node:test";
import { Registry } from "prom-client";
import { MemoryBackend } from "../../src/backend/memory/memory-backend.js";
import { Instrument, type QueueGauges } from "../../src/instrument.js";
import { meter } from "../../src/metrics/metrics.js";
import { nextEvent, testClient } from "../support/client.js";
import { testQueue } from "../support/queue-definition.js";

const none = () => new Map<string, number>();

async function lines(registry: Registry, metric: string): Promise<readonly string[]> {
  const text = await registry.getSingleMetricAsString(metric);
  return text.split("\n").filter((line) => line.startsWith(metric));
}

function gaugesOf(queue: string, pending: number, more: Partial<QueueGauges> = {}): QueueGauges {
  return { queue, depths: { pending, delayed: 0, processing: 0, dead: 0 }, estimated: [], unconsumable: 0, ...more };
}

test("M2 two clients may share one registry: counts add up, and so does what each of them holds", async () => {
  const registry = new Registry();
  const [one, two] = [new Instrument(), new Instrument()];
  meter(one, registry, () => new Map([["q", 2]]));
  const endTwo = meter(two, registry, () => new Map([["q", 3]]));
  one.emit("published", { queue: "q", messages: 1 });
  two.emit("published", { queue: "q", messages: 4 });
  two.emit("overdue", { queue: "q", handlers: 1 });
  one.emit("listenerUp", {});
  two.emit("listenerDown", { error: new Error("gone"), attempts: 1 });
  assert.deepEqual(await lines(registry, "postrider_messages_published_total"), [
    'postrider_messages_published_total{queue="q"} 5',
  ]);
  assert.deepEqual(await lines(registry, "postrider_publish_buffer_depth"), [
    'postrider_publish_buffer_depth{queue="q"} 5',
  ]);
  assert.deepEqual(await lines(registry, "postrider_handlers_overdue"), ['postrider_handlers_overdue{queue="q"} 1']);
  assert.deepEqual(await lines(registry, "postrider_listener_up"), ["postrider_listener_up 0"]);
  endTwo();
  assert.deepEqual(await lines(registry, "postrider_publish_buffer_depth"), [
    'postrider_publish_buffer_depth{queue="q"} 2',
  ]);
  assert.deepEqual(await lines(registry, "postrider_listener_up"), ["postrider_listener_up 1"]);
});

test("M2 of two readings of one database the newer counts, and what is estimated is labelled so", async () => {
  const registry = new Registry();
  const [one, two] = [new Instrument(), new Instrument()];
  meter(one, registry, none);
  meter(two, registry, none);
  two.emit("gauges", { queues: [gaugesOf("q", 7)] });
  one.emit("gauges", { queues: [gaugesOf("q", 20_000, { estimated: ["pending"], oldestAgeMs: 1_500 })] });
  assert.deepEqual((await lines(registry, "postrider_queue_depth")).toSorted(), [
    'postrider_queue_depth{queue="q",status="dead"} 0',
    'postrider_queue_depth{queue="q",status="delayed"} 0',
    'postrider_queue_depth{queue="q",status="pending",estimated="true"} 20000',
    'postrider_queue_depth{queue="q",status="processing"} 0',
  ]);
  assert.deepEqual(await lines(registry, "postrider_oldest_message_age_seconds"), [
    'postrider_oldest_message_age_seconds{queue="q"} 1.5',
  ]);
});

test("M2 a registry that its owner has cleared takes the gauges of the next client", async () => {
  const registry = new Registry();
  meter(new Instrument(), registry, none);
  registry.clear();
  meter(new Instrument(), registry, () => new Map([["q", 1]]));
  assert.equal((await lines(registry, "postrider_publish_buffer_depth")).length, 1);
});

test("M2, M3 an event looks nothing up in the registry, and a subscriber that throws keeps no other from hearing", () => {
  const registry = new Registry();
  const instrument = new Instrument();
  meter(instrument, registry, none);
  registry.getSingleMetric = () => assert.fail("looked up for an event");
  const errors: string[] = [];
  instrument.on("error", ({ part }) => errors.push(part));
  instrument.on("claimed", () => {
    throw new Error("a broken subscriber");
  });
  let heard = 0;
  instrument.on("claimed", () => {
    heard += 1;
  });
  instrument.emit("claimed", { queue: "q", batchId: "1", messages: 1, publishedAt: new Date() });
  instrument.emit("handled", { queue: "q", batchIds: ["1"], status: "ok", durationMs: 1 });
  assert.deepEqual([errors, heard], [["subscriber of claimed"], 1]);
});

test("M2, D10 a started client reads depths, ages and what nobody can consume; a stopped one shows none of it", async (t) => {
  const registry = new Registry();
  const backend = new MemoryBackend();
  const publisher = testClient(t, { backend, queues: [testQueue("q", { version: 2 })] });
  await publisher.queue("q").publish({ n: 1 });
  const node = testClient(t, { backend, queues: [testQueue("q")], registry });
  const read = nextEvent(node, "gauges");
  await node.start();
  await read;
  assert.ok(
    (await lines(registry, "postrider_queue_depth")).includes('postrider_queue_depth{queue="q",status="pending"} 1'),
  );
  assert.deepEqual(await lines(registry, "postrider_unconsumable_batches"), [
    'postrider_unconsumable_batches{queue="q"} 1',
  ]);
  assert.deepEqual(await lines(registry, "postrider_listener_up"), ["postrider_listener_up 1"]);
  await node.stop();
  assert.deepEqual(await lines(registry, "postrider_queue_depth"), []);
});
