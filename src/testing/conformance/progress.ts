import assert from "node:assert/strict";
import type { ConformanceCase } from "./case.js";

/** The progress store. */
export const progressCases: readonly ConformanceCase[] = [
  {
    rule: "J5",
    name: "what is written is read back, clamped; the last writer wins; what is not said stays",
    async run(subject) {
      const { progress } = subject.backend;
      const key = subject.name("progress");
      assert.equal(await progress.get(key), undefined);
      await progress.set(key, { percent: -5, stage: "begun \u0000" });
      assert.deepEqual(await seen(key), [0, "begun \u0000", "running"]);
      await progress.set(key, { percent: 120 });
      assert.deepEqual(await seen(key), [100, "begun \u0000", "running"]);
      await progress.set(key, { state: "failed" });
      assert.deepEqual(await seen(key), [100, "begun \u0000", "failed"]);
      async function seen(asked: string) {
        const { percent, stage, state } = (await progress.get(asked)) ?? {};
        return [percent, stage, state];
      }
    },
  },
  {
    rule: "J5",
    name: "a late owner writes nothing, also when the same node has claimed the batch again",
    async run(subject) {
      const queue = subject.name();
      const late = await subject.inFlight(queue);
      const { progress } = subject.backend;
      assert.equal(await progress.setOf(late, { percent: 10, stage: "first" }), true);
      await subject.backend.release([late], 0);
      const now = await subject.claimOne(queue);
      assert.equal(await progress.setOf(late, { percent: 90 }), false);
      assert.equal((await progress.get(late.id))?.percent, 10);
      assert.equal(await progress.setOf(now, { percent: 20 }), true);
      await subject.backend.ack([now]);
      assert.equal(await progress.setOf(now, { percent: 30 }), false);
      const { percent, state, stage } = (await progress.get(late.id)) ?? {};
      assert.deepEqual([percent, state, stage], [100, "finished", "first"]);
    },
  },
  {
    rule: "J5",
    name: "what dies has failed; what was never told of leaves nothing",
    async run(subject) {
      const queue = subject.name();
      const { progress } = subject.backend;
      const told = await subject.inFlight(queue);
      await progress.setOf(told, { percent: 50 });
      const silent = await subject.inFlight(queue);
      const dead = [told, silent].map((lease) => ({ lease, reason: "rejected" as const, error: "no" }));
      await subject.backend.deadLetter(dead);
      const { percent, state } = (await progress.get(told.id)) ?? {};
      assert.deepEqual([percent, state], [50, "failed"]);
      assert.equal(await progress.get(silent.id), undefined);
    },
  },
  {
    rule: "J5",
    name: "what dies in a queue that keeps no dead letters has failed all the same",
    async run(subject) {
      const queue = await subject.register({ deadLetter: false, maxAttempts: 1, staleAfterMs: 1 });
      const { backend } = subject;
      const told = async () => {
        const batch = await subject.inFlight(queue);
        await backend.progress.setOf(batch, { percent: 50 });
        return batch;
      };
      const [rejected, failed, shrunk, lost] = [await told(), await told(), await told(), await told()];
      await backend.deadLetter([{ lease: rejected, reason: "rejected", error: "no" }]);
      await backend.retry([{ lease: failed, delayMs: 0, error: "no" }]);
      const part = { payload: "[1]", position: 0, reason: "schema" as const, error: "no" };
      await backend.settlePart({ lease: shrunk, dead: [part] });
      for (const { id } of [rejected, failed, shrunk]) assert.equal((await backend.progress.get(id))?.state, "failed");
      await subject.until(async () => {
        await subject.poll([], { recover: true });
        return (await backend.progress.get(lost.id))?.state === "failed";
      }, "what was lost with its node never failed");
      await subject.assertDepth(queue, {});
    },
  },
  {
    rule: "J5",
    name: "old entries are purged, younger ones stay",
    async run(subject) {
      const { progress } = subject.backend;
      const [old, young] = [subject.name("progress"), subject.name("progress")];
      await progress.set(old, { percent: 1 });
      const { updatedAt } = (await progress.get(old)) ?? assert.fail();
      const before = new Date(updatedAt.getTime() + 2);
      await subject.until(async () => {
        await progress.set(young, { percent: 1 });
        const written = await progress.get(young);
        return written !== undefined && written.updatedAt > before;
      }, "the clock stands still");
      assert.ok((await progress.purge(before)) >= 1);
      assert.equal(await progress.get(old), undefined);
      assert.notEqual(await progress.get(young), undefined);
    },
  },
  {
    rule: "J5",
    name: "a session hears which progress was written",
    async run(subject) {
      const key = subject.name("progress");
      const heard: string[] = [];
      await subject.listen({ onProgress: (written) => heard.push(written) });
      await subject.backend.progress.set(key, { percent: 1 });
      await subject.until(async () => heard.includes(key), "nothing was heard");
    },
  },
];
