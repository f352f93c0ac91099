import assert from "node:assert/strict";
import type { UniqueKey } from "../../batch/batch.js";
import type { ConformanceCase } from "./case.js";
import type { Subject } from "./subject.js";

const held = (key: string, more: Partial<UniqueKey> = {}) => {
  return { unique: { key, whileRunning: false, onConflict: "skip", ...more } as const };
};

const payloads = async (subject: Subject, queue: string) => (await subject.claim(queue)).map(({ payload }) => payload);

/** At most one batch of a key. Whether every batch is stored twice makes no difference: the copy is the first conflict. */
export const uniqueCases: readonly ConformanceCase[] = [
  {
    rule: "J9",
    name: "a batch whose key is taken is skipped, and told the id of the one that holds it; the rest of the write is stored",
    async run(subject) {
      const queue = subject.name();
      const batches = ["a", "b", "a", "c"].map((key, index) => subject.batch(queue, [index], held(key)));
      const { ids, skipped } = await subject.backend.publish([...batches, subject.batch(queue, ["without"])]);
      assert.equal(ids.length, 5 * subject.copies);
      assert.equal(skipped?.size, 1 + (subject.copies - 1) * 4);
      assert.equal(ids[0], ids[2 * subject.copies]);
      const again = await subject.backend.publish([subject.batch(queue, ["late"], held("b"))]);
      assert.deepEqual([again.ids[0], again.skipped?.has(0)], [ids[subject.copies], true]);
      const expected = ["[0]", "[1]", "[3]", ...Array(subject.copies).fill('["without"]')];
      assert.deepEqual(await payloads(subject, queue), expected);
    },
  },
  {
    rule: "J9",
    name: "keys are of one queue, and a delayed batch holds its own",
    async run(subject) {
      const [queue, other] = [subject.name(), subject.name()];
      await subject.publish(queue, [1], { delayMs: 3_600_000, ...held("k") });
      await subject.publish(queue, [2], held("k"));
      await subject.publish(other, [3], held("k"));
      await subject.assertDepth(queue, { delayed: 1 });
      assert.deepEqual(await payloads(subject, other), ["[3]"]);
    },
  },
  {
    rule: "J9",
    name: "held while pending: free from the claim on; held while processing: free when the batch is gone",
    async run(subject) {
      for (const whileRunning of [false, true]) {
        const queue = subject.name();
        await subject.publish(queue, [1], held("k", { whileRunning }));
        const running = await subject.claimOne(queue);
        await subject.publish(queue, [2], held("k", { whileRunning }));
        await subject.assertDepth(queue, { processing: 1, pending: whileRunning ? 0 : 1 });
        await subject.backend.ack([running]);
        await subject.publish(queue, [3], held("k", { whileRunning }));
        assert.deepEqual(await payloads(subject, queue), whileRunning ? ["[3]"] : ["[2]"]);
      }
    },
  },
  {
    rule: "J9",
    name: "replace: what waits gives way, under a new id; what runs does not, and the new one is skipped where it holds the key",
    async run(subject) {
      for (const whileRunning of [false, true]) {
        const queue = subject.name();
        const key = held("k", { whileRunning, onConflict: "replace" });
        const [first] = await subject.publish(queue, [1], { delayMs: 3_600_000, ...key });
        const ids = await subject.publish(queue, [2], key);
        assert.ok(!ids.includes(first ?? ""));
        const running = await subject.claimOne(queue);
        assert.equal(running.payload, "[2]");
        const { skipped } = await subject.backend.publish([subject.batch(queue, [3], key)]);
        assert.equal(skipped?.has(0) ?? false, whileRunning);
        await subject.assertDepth(queue, { processing: 1, pending: whileRunning ? 0 : 1 });
      }
    },
  },
  {
    rule: "J9",
    name: "what comes back takes its key again; where it has been taken meanwhile it goes on without it, and so do the others",
    async run(subject) {
      const queue = await subject.register({ staleAfterMs: 1 });
      for (const key of ["a", "b", "c", "d", "e", "f"]) await subject.publish(queue, [key], held(key));
      const [a, b, c, d, e, f] = await subject.claim(queue, { limit: 6 });
      assert.ok(a !== undefined && b !== undefined && c !== undefined && d !== undefined);
      assert.ok(e !== undefined && f !== undefined);
      await subject.publish(queue, ["a again"], held("a"));
      await subject.publish(queue, ["c again"], held("c"));
      const failed = [a, b].map((lease) => ({ lease, delayMs: 0, error: "no" }));
      assert.equal((await subject.backend.retry(failed)).size, 2);
      assert.equal((await subject.backend.release([c, f], 0)).size, 2);
      const failure = { delayMs: 0, error: "no" };
      const rest = { payload: e.payload, positions: [0] };
      assert.equal(await subject.backend.settlePart({ lease: e, dead: [], rest, failure }), "delayed");
      await subject.until(
        async () => (await subject.poll([], { recover: true })).recovered.some((one) => one.queue === queue),
        "d was never recovered",
      );
      for (const key of ["a", "b", "c", "d", "e", "f"]) {
        assert.equal(
          (await subject.backend.publish([subject.batch(queue, [key], held(key))])).skipped?.has(0),
          true,
          key,
        );
      }
      const expected = ["a", "b", "c", "d", "e", "f", "a again", "c again"].map((key) => JSON.stringify([key]));
      assert.deepEqual(await payloads(subject, queue), expected);
    },
  },
  {
    rule: "J9",
    name: "a dead letter has no key until it is put back; then as with any that comes back",
    async run(subject) {
      const queue = subject.name();
      for (const key of ["a", "b"]) await subject.publish(queue, [key], held(key));
      const claimed = await subject.claim(queue);
      await subject.backend.deadLetter(claimed.map((lease) => ({ lease, reason: "rejected", error: "no" })));
      await subject.publish(queue, ["a again"], held("a"));
      assert.equal((await subject.backend.inspector.redrive({ queue })).length, 2);
      await subject.publish(queue, ["b again"], held("b"));
      assert.deepEqual(await payloads(subject, queue), ['["a again"]', '["a"]', '["b"]']);
    },
  },
  {
    rule: "J9",
    name: "of many that publish the same keys at once, in any order, each key is stored once, and nobody fails",
    async run(subject) {
      const queue = subject.name();
      const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`);
      const write = (order: readonly string[]) =>
        subject.backend.publish(order.map((key) => subject.batch(queue, [key], held(key))));
      await Promise.all([keys, keys.toReversed(), keys, keys.toReversed(), keys].map(write));
      await subject.assertDepth(queue, { pending: 20 });
    },
  },
  {
    rule: "J2, J9",
    name: "what waits is cancelled by its key, delayed or not; what runs is not, nor what has no such key",
    async run(subject) {
      const queue = subject.name();
      const { inspector } = subject.backend;
      await subject.publish(queue, ["a"], held("a"));
      await subject.publish(queue, ["b"], { delayMs: 3_600_000, ...held("b") });
      await subject.publish(queue, ["c"], held("c", { whileRunning: true }));
      assert.equal(await inspector.cancelKey(subject.name(), "a"), false);
      assert.equal(await inspector.cancelKey(queue, "a"), true);
      assert.equal(await inspector.cancelKey(queue, "a"), false);
      assert.equal(await inspector.cancelKey(queue, "b"), true);
      await subject.claimOne(queue);
      assert.equal(await inspector.cancelKey(queue, "c"), false);
      await subject.assertDepth(queue, { processing: 1 });
    },
  },
];
