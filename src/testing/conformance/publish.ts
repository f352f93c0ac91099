import assert from "node:assert/strict";
import type { ConformanceCase } from "./case.js";

/** Storing batches. */
export const publishCases: readonly ConformanceCase[] = [
  {
    rule: "P3",
    name: "a publish resolves with one id per batch, ascending in their order, when they are stored",
    async run(subject) {
      const [queue, other] = [subject.name(), subject.name()];
      const batches = Array.from({ length: 120 }, (_, index) =>
        subject.batch(index % 2 === 0 ? queue : other, [index]),
      );
      const { ids } = await subject.backend.publish(batches);
      assert.equal(ids.length, 120 * subject.copies);
      assert.deepEqual(
        [...ids].sort((a, b) => Number(BigInt(a) - BigInt(b))),
        ids,
      );
      await subject.assertDepth(queue, { pending: 60 * subject.copies });
      await subject.assertDepth(other, { pending: 60 * subject.copies });
    },
  },
  {
    rule: "P3",
    name: "publishing nothing is nothing",
    async run(subject) {
      assert.deepEqual((await subject.backend.publish([])).ids, []);
    },
  },
  {
    rule: "P14",
    name: "a delayed batch is not given out before its time, and is soon after; its time is told",
    async run(subject) {
      const queue = subject.name();
      await subject.claimAfter(60, queue, () => subject.publish(queue, [1], { delayMs: 60 }));
      await subject.publish(queue, [1], { delayMs: 3_600_000 });
      const { dueInMs } = await subject.poll([queue], { maintain: true });
      assert.ok(dueInMs !== undefined && dueInMs <= 3_600_000, `due in ${dueInMs} ms`);
    },
  },
  {
    rule: "P14",
    name: "runAt is a time of the backend's clock; one that has passed means now",
    async run(subject) {
      const queue = subject.name();
      await subject.publish(queue, [1], { runAt: new Date(Date.now() + 3_600_000) });
      await subject.publish(queue, [2], { runAt: new Date(Date.now() - 3_600_000) });
      const { batches } = await subject.poll([queue], { maintain: true });
      assert.deepEqual(
        batches.map(({ payload }) => payload),
        Array(subject.copies).fill("[2]"),
      );
    },
  },
  {
    rule: "P2",
    name: "any text comes back unchanged, in the queue's name too",
    async run(subject) {
      const queue = `${subject.name()} '"\\%$ü\u{1F4A1}`;
      const message = { "\u0000": "\ud800\u2028'\"\\", deep: [null, 1e300, -0.5, true] };
      const batch = await subject.inFlight(queue, [message]);
      assert.equal(batch.queue, queue);
      assert.deepEqual(JSON.parse(batch.payload), [message]);
    },
  },
  {
    rule: "T1",
    name: "what a transaction publishes is nowhere before its commit and everywhere after it",
    async run(subject) {
      const queue = subject.name();
      const transaction = await subject.backend.begin();
      const ids = await transaction.publish([subject.batch(queue, ["a"]), subject.batch(queue, ["b"])]);
      assert.equal(ids.length, 2 * subject.copies);
      assert.equal((await subject.claim(queue)).length, 0);
      await transaction.commit();
      assert.deepEqual(
        (await subject.claim(queue)).map(({ id }) => id),
        ids,
      );
    },
  },
  {
    rule: "T1",
    name: "what a rolled-back transaction published is nowhere",
    async run(subject) {
      const queue = subject.name();
      const transaction = await subject.backend.begin();
      await transaction.publish([subject.batch(queue)]);
      await transaction.rollback();
      await subject.assertDepth(queue, {});
    },
  },
  {
    rule: "T2",
    name: "a savepoint that is rolled back takes its own batches with it, no others",
    async run(subject) {
      const queue = subject.name();
      const transaction = await subject.backend.begin();
      await transaction.publish([subject.batch(queue, ["before"])]);
      await transaction.savepoint("one");
      await transaction.publish([subject.batch(queue, ["inside"])]);
      await transaction.savepoint("two");
      await transaction.publish([subject.batch(queue, ["innermost"])]);
      await transaction.releaseSavepoint("two");
      await transaction.rollbackTo("one");
      await transaction.publish([subject.batch(queue, ["after"])]);
      await transaction.commit();
      const found = (await subject.claim(queue)).map(({ payload }) => payload);
      assert.deepEqual([...new Set(found)], ['["before"]', '["after"]']);
    },
  },
];
