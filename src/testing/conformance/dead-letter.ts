import assert from "node:assert/strict";
import type { ConformanceCase } from "./case.js";

/** Giving up at once. */
export const deadLetterCases: readonly ConformanceCase[] = [
  {
    rule: "D5",
    name: "a batch given up is a dead letter with its reason, whatever attempts are left, and no failure is counted",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue, ["a"]);
      const gone = await subject.backend.deadLetter([{ lease: batch, reason: "rejected", error: "no use" }]);
      assert.deepEqual(gone, new Set([batch.id]));
      await subject.assertDepth(queue, { dead: 1 });
      const [letter] = await subject.backend.inspector.dead({ queue });
      assert.deepEqual([letter?.reason, letter?.error, letter?.failures], ["rejected", "no use", 0]);
    },
  },
  {
    rule: "D6",
    name: "a payload that is no JSON at all is kept as it is",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue, [], { payload: "{no json", bytes: 8, messageCount: 1 });
      assert.equal(batch.payload, "{no json");
      await subject.backend.deadLetter([{ lease: batch, reason: "decode", error: "" }]);
      assert.equal((await subject.backend.inspector.dead({ queue }))[0]?.payload, "{no json");
    },
  },
  {
    rule: "E2",
    name: "the slot of an exclusive queue is free when its batch is given up",
    async run(subject) {
      const queue = await subject.register({ exclusive: true });
      const batch = await subject.inFlight(queue);
      await subject.backend.deadLetter([{ lease: batch, reason: "rejected", error: "" }]);
      await subject.publish(queue);
      assert.equal((await subject.claim(queue)).length, 1);
    },
  },
];
