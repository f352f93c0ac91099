import assert from "node:assert/strict";
import { messageId } from "../../batch/batch.js";
import type { ConformanceCase } from "./case.js";

const dead = (position: number) => ({
  payload: `["${position}"]`,
  position,
  reason: "schema" as const,
  error: `fault ${position}`,
});

/** Some messages of a batch leave it. */
export const settlePartCases: readonly ConformanceCase[] = [
  {
    rule: "D3",
    name: "what stays is in the same row, leased as before, and its messages keep their ids",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue, ["0", "1", "2", "3"], { meta: "[{},{},{},{}]" });
      const rest = { payload: '["1","3"]', meta: '[{"a":"b"},{}]', positions: [1, 3] };
      assert.equal(await subject.backend.settlePart({ lease: batch, rest, dead: [dead(2)] }), "kept");
      await subject.assertDepth(queue, { processing: 1, dead: 1 });
      await subject.backend.release([batch], 0);
      const again = await subject.claimOne(queue);
      const { id, payload, meta, messageCount, bytes, failures } = again;
      assert.deepEqual(
        { id, payload, meta, messageCount, bytes, failures },
        { id: batch.id, payload: rest.payload, meta: rest.meta, messageCount: 2, bytes: 9, failures: 0 },
      );
      assert.deepEqual([messageId(again, 0), messageId(again, 1)], [`${batch.id}.1`, `${batch.id}.3`]);
      const [letter] = await subject.backend.inspector.dead({ queue });
      assert.deepEqual([letter?.reason, letter?.error, letter?.messageIds], ["schema", "fault 2", [`${batch.id}.2`]]);
    },
  },
  {
    rule: "D3",
    name: "what failed waits in the same row with one failure more",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue, ["0", "1"]);
      const rest = { payload: '["1"]', positions: [1] };
      const failure = { delayMs: 0, error: "no" };
      assert.equal(await subject.backend.settlePart({ lease: batch, rest, dead: [], failure }), "delayed");
      const again = await subject.claimOne(queue);
      assert.deepEqual([again.id, again.failures, again.positions, again.meta], [batch.id, 1, [1], undefined]);
    },
  },
  {
    rule: "D6",
    name: "where nothing stays the row goes, and each of the dead is there once",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue, ["0", "1"]);
      assert.equal(await subject.backend.settlePart({ lease: batch, dead: [dead(0), dead(1)] }), "gone");
      await subject.assertDepth(queue, { dead: 2 });
      const letters = await subject.backend.inspector.dead({ queue });
      assert.deepEqual(letters.map(({ messageIds }) => messageIds).sort(), [[`${batch.id}.0`], [`${batch.id}.1`]]);
    },
  },
  {
    rule: "D8",
    name: "said twice, because nobody answered, it buries what leaves the batch once",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue, ["0", "1", "2"]);
      const [lease, rest] = [batch, { payload: '["2"]', positions: [2] }];
      for (let time = 0; time < 2; time += 1)
        assert.equal(await subject.backend.settlePart({ lease, rest, dead: [dead(0), dead(1)] }), "kept");
      await subject.assertDepth(queue, { processing: 1, dead: 2 });
      assert.equal(await subject.backend.settlePart({ lease, dead: [dead(0), dead(2)] }), "gone");
      await subject.assertDepth(queue, { dead: 3 });
    },
  },
  {
    rule: "D8",
    name: "carried out too late, it does not bring back what has left the batch meanwhile",
    async run(subject) {
      const queue = subject.name();
      const lease = await subject.inFlight(queue, ["0", "1", "2"]);
      const restOf = (...positions: number[]) => ({ payload: JSON.stringify(positions.map(String)), positions });
      const [more, less] = [restOf(1, 2), restOf(2)] as const;
      assert.equal(await subject.backend.settlePart({ lease, rest: less, dead: [] }), "kept");
      assert.equal(await subject.backend.settlePart({ lease, rest: more, dead: [dead(0)] }), undefined);
      await subject.backend.release([lease], 0);
      assert.equal((await subject.claimOne(queue)).payload, less.payload);
      await subject.assertDepth(queue, { processing: 1 });
    },
  },
  {
    rule: "E2",
    name: "the slot of an exclusive queue is kept with the lease, and free when the batch waits or goes",
    async run(subject) {
      const queue = await subject.register({ exclusive: true });
      const batch = await subject.inFlight(queue, ["0", "1"]);
      await subject.publish(queue, ["next"]);
      const rest = { payload: '["1"]', positions: [1] };
      await subject.backend.settlePart({ lease: batch, rest, dead: [] });
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.backend.settlePart({ lease: batch, rest, dead: [], failure: { delayMs: 3_600_000, error: "" } });
      const next = await subject.claimOne(queue);
      await subject.backend.settlePart({ lease: next, dead: [dead(0)] });
      await subject.publish(queue, ["last"]);
      assert.equal((await subject.claim(queue)).length, 1);
    },
  },
];
