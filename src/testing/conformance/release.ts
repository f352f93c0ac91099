import assert from "node:assert/strict";
import type { ConformanceCase } from "./case.js";

/** Giving back. */
export const releaseCases: readonly ConformanceCase[] = [
  {
    rule: "R6",
    name: "a released batch is there again, in its place, with nothing counted",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue);
      await subject.publish(queue, ["later"]);
      assert.deepEqual(await subject.backend.release([batch], 0), new Set([batch.id]));
      const again = await subject.claimOne(queue);
      assert.deepEqual({ ...again, token: "" }, { ...batch, token: "" });
    },
  },
  {
    rule: "D5",
    name: "a postponed batch is not given out before its time, and no failure is counted",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue);
      const again = await subject.claimAfter(30, queue, () => subject.backend.release([batch], 30));
      assert.equal(again.failures, 0);
    },
  },
  {
    rule: "E2",
    name: "the slot of an exclusive queue is free when its batch is released",
    async run(subject) {
      const queue = await subject.register({ exclusive: true });
      const batch = await subject.inFlight(queue);
      await subject.backend.release([batch], 3_600_000);
      await subject.publish(queue);
      assert.equal((await subject.claim(queue)).length, 1);
    },
  },
];
