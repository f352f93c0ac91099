import assert from "node:assert/strict";
import type { ConformanceCase } from "./case.js";

/** Failure. */
export const retryCases: readonly ConformanceCase[] = [
  {
    rule: "D4",
    name: "a failed batch waits out its back-off, keeps its id, its place and its messages' ids, and counts one failure",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue, ["a"], { meta: '[{"k":"v"}]' });
      const again = await subject.claimAfter(40, queue, async () => {
        const answers = await subject.backend.retry([{ lease: batch, delayMs: 40, error: "no" }]);
        assert.equal(answers.get(batch.id), "delayed");
      });
      const { token: _, ...before } = batch;
      const { token: __, ...after } = again;
      assert.deepEqual(after, { ...before, failures: 1 });
    },
  },
  {
    rule: "D4",
    name: "with no wait it can be claimed at once, before what was published later",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue);
      await subject.publish(queue, ["later"]);
      await subject.backend.retry([{ lease: batch, delayMs: 0, error: "no" }]);
      assert.equal((await subject.claimOne(queue)).id, batch.id);
    },
  },
  {
    rule: "D4",
    name: "a single message dies at its last attempt, with text, counts, owner and times, and is nowhere else",
    async run(subject) {
      const queue = await subject.register({ maxAttempts: 2 });
      const first = await subject.inFlight(queue, ["a"]);
      await subject.backend.retry([{ lease: first, delayMs: 0, error: "once" }]);
      const last = await subject.claimOne(queue, { owner: "the owner" });
      assert.equal(last.maxAttempts, 2);
      const answers = await subject.backend.retry([{ lease: last, delayMs: 0, error: "twice" }]);
      assert.equal(answers.get(last.id), "dead");
      await subject.assertDepth(queue, { dead: 1 });
      const [letter] = await subject.backend.inspector.dead({ queue });
      assert.ok(letter !== undefined);
      const { reason, error, failures, crashes, owner, batchId, payload, messageIds } = letter;
      assert.deepEqual(
        { reason, error, failures, crashes, owner, batchId, payload, messageIds },
        {
          ...{ reason: "attempts", error: "twice", failures: 2, crashes: 0, owner: "the owner" },
          ...{ batchId: first.id, payload: '["a"]', messageIds: [`${first.id}.0`] },
        },
      );
      assert.ok(letter.diedAt.getTime() >= letter.publishedAt.getTime());
    },
  },
  {
    rule: "J3",
    name: "a publish's own maxAttempts stands for the queue's",
    async run(subject) {
      const queue = await subject.register({ maxAttempts: 7 });
      const batch = await subject.inFlight(queue, ["a"], { maxAttempts: 1 });
      assert.equal(batch.maxAttempts, 1);
      assert.equal((await subject.backend.retry([{ lease: batch, delayMs: 0, error: "" }])).get(batch.id), "dead");
    },
  },
  {
    rule: "D4",
    name: "a batch of several messages does not die of its last attempt: it stays in flight, to be divided",
    async run(subject) {
      const queue = await subject.register({ maxAttempts: 1 });
      const batch = await subject.inFlight(queue, ["a", "b"]);
      assert.equal((await subject.backend.retry([{ lease: batch, delayMs: 0, error: "" }])).get(batch.id), "divide");
      await subject.assertDepth(queue, { processing: 1 });
      assert.equal((await subject.backend.heartbeat([batch])).get(batch.token), "kept");
    },
  },
  {
    rule: "D4",
    name: "where a queue keeps no dead letters, what dies is gone",
    async run(subject) {
      const queue = await subject.register({ maxAttempts: 1, deadLetter: false });
      const batch = await subject.inFlight(queue);
      assert.equal((await subject.backend.retry([{ lease: batch, delayMs: 0, error: "" }])).get(batch.id), "dead");
      await subject.assertDepth(queue, {});
    },
  },
  {
    rule: "P2",
    name: "an error text comes back unchanged whatever it holds",
    async run(subject) {
      const queue = await subject.register({ maxAttempts: 1 });
      const error = "NUL \0, halves \ud800 \udc00, C:\\users\\u0041\\u00e9 \\\\u0000 \u{1F4A1} \r\n\t'\"";
      const batch = await subject.inFlight(queue);
      await subject.backend.retry([{ lease: batch, delayMs: 0, error }]);
      assert.equal((await subject.backend.inspector.dead({ queue }))[0]?.error, error);
    },
  },
  {
    rule: "E2",
    name: "the slot of an exclusive queue is free as soon as its batch waits, and as soon as it is dead",
    async run(subject) {
      const queue = await subject.register({ exclusive: true, maxAttempts: 2 });
      const batch = await subject.inFlight(queue, ["failing"]);
      const other = subject.batch(queue, ["other"]);
      await subject.backend.publish([other]);
      await subject.backend.retry([{ lease: batch, delayMs: 3_600_000, error: "" }]);
      const next = await subject.claimOne(queue);
      assert.equal(next.payload, '["other"]');
      await subject.backend.retry([{ lease: next, delayMs: 0, error: "" }]);
      const dying = await subject.claimOne(queue);
      await subject.backend.retry([{ lease: dying, delayMs: 0, error: "" }]);
      await subject.publish(queue, ["last"]);
      assert.equal((await subject.claim(queue)).length, 1);
    },
  },
];
