import assert from "node:assert/strict";
import type { Batch } from "../../batch/batch.js";
import type { QueueSettings } from "../../queue/queue.js";
import type { ConformanceCase } from "./case.js";
import type { Subject } from "./subject.js";

const ordered = (onFailure: "block" | "skip" = "block"): Partial<QueueSettings> => ({
  orderBy: { by: "/k", onFailure },
});

async function publishAll(subject: Subject, queue: string, messages: readonly string[]): Promise<void> {
  for (const message of messages) await subject.publish(queue, [message], { orderKey: message[0] ?? "" });
}

const payloads = (batches: readonly Batch[]) => batches.map(({ payload }) => (JSON.parse(payload) as unknown[])[0]);

/** Claims and acknowledges until nothing is left; what came, without the second copies. */
async function drain(subject: Subject, queue: string): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (;;) {
    const batches = await subject.claim(queue);
    if (batches.length === 0) break;
    seen.push(...payloads(batches));
    await subject.backend.ack(batches);
  }
  assert.equal((await subject.depth(queue)).pending, 0, "something is stuck");
  return [...new Set(seen)];
}

/** Lines: batches of one key run one after another. */
export const orderCases: readonly ConformanceCase[] = [
  {
    rule: "J10",
    name: "of each key one batch is in flight, the oldest; others side by side, and those without a key",
    async run(subject) {
      const queue = await subject.register(ordered());
      await publishAll(subject, queue, ["a1", "a2", "b1", "b2", "c1"]);
      await subject.publish(queue, ["none"]);
      const first = await subject.claim(queue);
      assert.deepEqual(payloads(first), ["a1", "b1", "c1", ...Array(subject.copies).fill("none")]);
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.backend.ack(first.slice(0, 1));
      const second = await subject.claim(queue);
      assert.deepEqual(payloads(second), [subject.copies === 1 ? "a2" : "a1"]);
      await subject.backend.ack([...first.slice(1), ...second]);
      assert.deepEqual((await drain(subject, queue)).sort(), subject.copies === 1 ? ["b2"] : ["a2", "b1", "b2", "c1"]);
    },
  },
  {
    rule: "J10",
    name: "a key's order is that of publishing, whatever the priorities",
    async run(subject) {
      const queue = await subject.register(ordered());
      await subject.publish(queue, ["a1"], { orderKey: "a", priority: 200 });
      await subject.publish(queue, ["a2"], { orderKey: "a", priority: 1 });
      await publishAll(subject, queue, ["b1"]);
      assert.deepEqual(
        (await drain(subject, queue)).filter((message) => message !== "b1"),
        ["a1", "a2"],
      );
    },
  },
  {
    rule: "J10",
    name: "block: a failed, postponed, released or recovered head comes first again; until it is due its line waits",
    async run(subject) {
      const queue = await subject.register({ ...ordered(), staleAfterMs: 30 });
      await publishAll(subject, queue, ["a1", "a2", "b1"]);
      const claim = async () => (await subject.poll([queue], { maintain: true, recover: true })).batches;
      const head = async () => {
        const [batch] = await subject.until(async () => {
          const batches = await claim();
          await subject.backend.ack(batches.filter(({ payload }) => payload.includes("b")));
          const found = batches.filter(({ payload }) => payload.includes("a"));
          return found.length > 0 && found;
        }, "the head never came back");
        assert.deepEqual(batch?.payload, '["a1"]');
        return batch as Batch;
      };
      await subject.backend.retry([{ lease: await head(), delayMs: 20, error: "no" }]);
      await subject.backend.release([await head()], 20);
      await subject.backend.release([await head()], 0);
      await head();
      const recovered = await head();
      assert.equal(recovered.crashes, 1);
      await subject.backend.ack([recovered]);
      assert.deepEqual((await drain(subject, queue)).at(-1), "a2");
    },
  },
  {
    rule: "J10",
    name: "block: a delayed head holds up its line, and no other, also when it is cancelled",
    async run(subject) {
      const queue = await subject.register(ordered());
      const [first = ""] = await subject.publish(queue, ["a1"], { orderKey: "a", delayMs: 3_600_000 });
      await publishAll(subject, queue, ["a2", "b1"]);
      assert.deepEqual((await drain(subject, queue).catch(() => ["stuck, as it should be"])).length, 1);
      for (const { batchId } of await subject.backend.inspector.peek(queue, "delayed")) {
        assert.ok(await subject.backend.inspector.cancel(queue, batchId));
      }
      assert.ok(first !== "");
      assert.deepEqual(await drain(subject, queue), ["a2"]);
    },
  },
  {
    rule: "J10",
    name: "skip: what is behind a failed or delayed batch overtakes it; when that is due it takes its turn again",
    async run(subject) {
      const queue = await subject.register(ordered("skip"));
      await subject.publish(queue, ["a1"], { orderKey: "a", delayMs: 3_600_000 });
      await publishAll(subject, queue, ["a2", "a3"]);
      const second = await subject.claimOne(queue);
      assert.equal(second.payload, '["a2"]');
      await subject.backend.retry([{ lease: second, delayMs: 1, error: "no" }]);
      const seen: unknown[] = [];
      await subject.until(async () => {
        const { batches } = await subject.poll([queue], { maintain: true });
        assert.ok(batches.length <= 1, "two of one key at once");
        seen.push(...payloads(batches));
        await subject.backend.ack(batches);
        return new Set(seen).size === 2;
      }, "a2 and a3 did not both come");
    },
  },
  {
    rule: "J10",
    name: "skip: what is behind a postponed batch overtakes it",
    async run(subject) {
      const queue = await subject.register(ordered("skip"));
      const first = await subject.inFlight(queue, ["a1"], { orderKey: "a" });
      await publishAll(subject, queue, ["a2"]);
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.backend.release([first], 3_600_000);
      assert.deepEqual(payloads(await subject.claim(queue)), ["a2"]);
    },
  },
  {
    rule: "J10, R4",
    name: "a head that dies with its node lets the next one come",
    async run(subject) {
      const queue = await subject.register({ ...ordered(), maxAttempts: 1, staleAfterMs: 1 });
      await subject.inFlight(queue, ["a1"], { orderKey: "a" });
      await publishAll(subject, queue, ["a2"]);
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.until(async () => {
        await subject.poll([], { recover: true });
        return (await subject.depth(queue)).dead > 0;
      }, "the head was never recovered");
      assert.equal(payloads(await subject.claim(queue))[0], "a2");
    },
  },
  {
    rule: "J10",
    name: "what is given up lets the next one come; what is put back stands in its old place",
    async run(subject) {
      const queue = await subject.register({ ...ordered(), maxAttempts: 1 });
      await publishAll(subject, queue, ["a1", "a2", "a3"]);
      for (let copy = 0; copy < subject.copies; copy += 1) {
        await subject.backend.retry([{ lease: await subject.claimOne(queue), delayMs: 0, error: "no" }]);
      }
      const second = await subject.claimOne(queue);
      assert.equal(second.payload, '["a2"]');
      await subject.backend.inspector.redrive({ queue });
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.backend.deadLetter([{ lease: second, reason: "rejected", error: "no" }]);
      assert.equal((await drain(subject, queue))[0], "a1");
    },
  },
  {
    rule: "J10",
    name: "what was divided keeps its place: its parts come one by one before what was published after them",
    async run(subject) {
      const queue = await subject.register({ ...ordered(), maxAttempts: 1 });
      const batch = await subject.inFlight(queue, ["a1", "a2"], { orderKey: "a" });
      await publishAll(subject, queue, ["a3"]);
      assert.equal((await subject.claim(queue)).length, 0);
      const singles = ["a1", "a2"].map((message, position) => ({ payload: JSON.stringify([message]), position }));
      await subject.backend.divide({ lease: batch, singles });
      assert.deepEqual(await drain(subject, queue), ["a1", "a2", "a3"]);
    },
  },
  {
    rule: "J10",
    name: "part of a batch is settled: its line waits while it is leased or blocked, and goes on when it is gone",
    async run(subject) {
      const queue = await subject.register(ordered());
      const batch = await subject.inFlight(queue, ["a1", "a2"], { orderKey: "a" });
      await publishAll(subject, queue, ["a3"]);
      const rest = { payload: '["a2"]', positions: [1] };
      assert.equal(await subject.backend.settlePart({ lease: batch, dead: [], rest }), "kept");
      assert.equal((await subject.claim(queue)).length, 0);
      const failure = { delayMs: 0, error: "no" };
      assert.equal(await subject.backend.settlePart({ lease: batch, dead: [], rest, failure }), "delayed");
      const again = await subject.claimOne(queue);
      assert.equal(again.id, batch.id);
      assert.equal(await subject.backend.settlePart({ lease: again, dead: [] }), "gone");
      assert.deepEqual(await drain(subject, queue), ["a3"]);
    },
  },
  {
    rule: "J10",
    name: "a line that is much longer than a claim looks does not hide the others, and is cleared with the queue",
    async run(subject) {
      const queue = await subject.register(ordered());
      await publishAll(subject, queue, [...Array.from({ length: 60 }, (_, index) => `a${index}`), "b1", "c1"]);
      const found: Batch[] = [];
      await subject.until(async () => {
        found.push(...(await subject.claim(queue, { limit: 2 })));
        return found.length === 3;
      }, "b1 and c1 were not found");
      assert.deepEqual(payloads(found), ["a0", "b1", "c1"]);
      assert.equal(await subject.backend.inspector.clear(queue), 62 * subject.copies - 3);
      await subject.backend.ack(found);
      assert.deepEqual(await drain(subject, queue), []);
      await publishAll(subject, queue, ["a!"]);
      assert.deepEqual(await drain(subject, queue), ["a!"]);
    },
  },
];
