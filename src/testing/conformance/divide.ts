import assert from "node:assert/strict";
import { messageId } from "../../batch/batch.js";
import type { ConformanceCase } from "./case.js";

const singles = [
  { payload: '["a"]', meta: '[{"k":"a"}]', position: 0 },
  { payload: '["b"]', meta: "[{}]", position: 1 },
];

/** A batch becomes batches of one. */
export const divideCases: readonly ConformanceCase[] = [
  {
    rule: "D4",
    name: "each message of an exhausted batch gets its last attempt alone, and then dies alone",
    async run(subject) {
      const queue = await subject.register({ maxAttempts: 3 });
      const batch = await subject.inFlight(queue, ["a", "b"], { meta: '[{"k":"a"},{}]', priority: 7 });
      const ids = await subject.backend.divide({ lease: batch, singles, failure: { delayMs: 0, error: "together" } });
      assert.equal(ids.length, 2);
      const [a, b] = await subject.claim(queue);
      assert.ok(a !== undefined && b !== undefined);
      assert.deepEqual([a.id, b.id], ids);
      assert.deepEqual([a.payload, a.meta, a.failures, a.messageCount, a.priority], ['["a"]', '[{"k":"a"}]', 2, 1, 7]);
      assert.deepEqual([messageId(a, 0), messageId(b, 0)], [`${batch.id}.0`, `${batch.id}.1`]);
      assert.equal(b.publishedAt.getTime(), batch.publishedAt.getTime());
      await subject.backend.ack([a]);
      assert.equal((await subject.backend.retry([{ lease: b, delayMs: 0, error: "alone" }])).get(b.id), "dead");
      const [letter] = await subject.backend.inspector.dead({ queue });
      assert.deepEqual([letter?.failures, letter?.messageIds], [3, [`${batch.id}.1`]]);
    },
  },
  {
    rule: "D4",
    name: "the parts wait out the back-off",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue, ["a", "b"]);
      await subject.backend.divide({ lease: batch, singles, failure: { delayMs: 3_600_000, error: "" } });
      await subject.assertDepth(queue, { delayed: 2 });
      const [view] = await subject.backend.inspector.peek(queue, "delayed");
      assert.ok(view?.availableAt !== undefined && view.availableAt.getTime() > Date.now() + 3_000_000);
    },
  },
  {
    rule: "R5",
    name: "after crashes the counts go over as they are, and a part of a part still names its origin",
    async run(subject) {
      const queue = await subject.register({ staleAfterMs: 1 });
      const batch = await subject.inFlight(queue, ["x", "a", "b"]);
      await subject.backend.settlePart({ lease: batch, rest: { payload: '["a","b"]', positions: [1, 2] }, dead: [] });
      await subject.until(async () => (await subject.poll([], { recover: true })).recovered.length > 0, "no recovery");
      const again = await subject.claimOne(queue);
      assert.equal(again.crashes, 1);
      const moved = singles.map((single) => ({ ...single, position: single.position + 1 }));
      await subject.backend.divide({ lease: again, singles: moved });
      const parts = await subject.claim(queue);
      assert.deepEqual(
        parts.map(({ crashes, failures }) => [crashes, failures]),
        [
          [1, 0],
          [1, 0],
        ],
      );
      assert.deepEqual(
        parts.map((part) => messageId(part, 0)),
        [`${batch.id}.1`, `${batch.id}.2`],
      );
      const [part, other] = parts;
      assert.ok(part !== undefined && other !== undefined);
      await subject.backend.divide({ lease: part, singles: [{ payload: part.payload, position: 1 }] });
      const partOfPart = await subject.claimOne(queue);
      assert.deepEqual([messageId(partOfPart, 0), partOfPart.publishedAt], [`${batch.id}.1`, batch.publishedAt]);
      await subject.backend.ack([other, partOfPart]);
    },
  },
  {
    rule: "E1",
    name: "the slot of an exclusive queue is free afterwards, and the parts come one by one",
    async run(subject) {
      const queue = await subject.register({ exclusive: true });
      const batch = await subject.inFlight(queue, ["a", "b"]);
      await subject.backend.divide({ lease: batch, singles });
      assert.equal((await subject.claim(queue)).length, 1);
      assert.equal((await subject.claim(queue)).length, 0);
    },
  },
];
