import assert from "node:assert/strict";
import type { ConformanceCase } from "./case.js";

/** Success. */
export const ackCases: readonly ConformanceCase[] = [
  {
    rule: "D2",
    name: "acknowledged batches are gone, and only those",
    async run(subject) {
      const queue = subject.name();
      for (let index = 0; index < 3; index += 1) await subject.publish(queue, [index]);
      const batches = await subject.claim(queue);
      const done = batches.slice(1);
      assert.deepEqual([...(await subject.backend.ack(done))].sort(), done.map(({ id }) => id).sort());
      await subject.assertDepth(queue, { processing: 1 });
    },
  },
  {
    rule: "R1",
    name: "an acknowledgement under another token, queue or id does nothing and says so; a second one too",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue);
      const wrong = [
        { ...batch, token: "1" },
        { ...batch, queue: subject.name() },
        { ...batch, id: "9007199254740993" },
      ];
      assert.equal((await subject.backend.ack(wrong)).size, 0);
      assert.deepEqual(await subject.backend.ack([batch]), new Set([batch.id]));
      assert.equal((await subject.backend.ack([batch])).size, 0);
      assert.equal((await subject.backend.ack([])).size, 0);
    },
  },
  {
    rule: "R1",
    name: "who lost a batch settles nothing, also when the same node has claimed it again",
    async run(subject) {
      const queue = subject.name();
      const late = await subject.inFlight(queue);
      await subject.backend.release([late], 0);
      const now = await subject.claimOne(queue);
      const { backend } = subject;
      assert.equal((await backend.ack([late])).size, 0);
      assert.equal((await backend.retry([{ lease: late, delayMs: 0, error: "late" }])).size, 0);
      assert.equal((await backend.deadLetter([{ lease: late, reason: "rejected", error: "late" }])).size, 0);
      assert.equal((await backend.release([late], 0)).size, 0);
      assert.equal(await backend.settlePart({ lease: late, dead: [] }), undefined);
      assert.deepEqual(await backend.divide({ lease: late, singles: [{ payload: "[1]", position: 0 }] }), []);
      assert.equal((await backend.heartbeat([late])).get(late.token), "lost");
      await subject.assertDepth(queue, { processing: 1 });
      assert.equal((await backend.ack([now])).size, 1);
    },
  },
];
