import assert from "node:assert/strict";
import { chainKey, encodeChain, type RemainingStep } from "../../chain/chain.js";
import type { ConformanceCase } from "./case.js";
import type { Subject } from "./subject.js";

/** Chains: an acknowledgement hands over to the next step. */
export const chainCases: readonly ConformanceCase[] = [
  {
    rule: "J4",
    name: "an acknowledgement stores the next step as it was given, and the last one ends the chain",
    async run(subject) {
      const [second, third] = [subject.name(), subject.name()];
      const meta = '[{"h":"v"}]';
      const { batch, id } = await begin(subject, [
        { ...step(second, "\u0000"), meta, priority: 7, maxAttempts: 3 },
        { ...step(third, "c"), delayMs: 1 },
      ]);
      assert.equal(batch.chainId, id);
      await subject.assertDepth(second, {});
      assert.deepEqual(await subject.backend.ack([batch]), new Set([batch.id]));
      const next = await subject.claimOne(second);
      assert.deepEqual([next.payload, next.meta, next.priority, next.maxAttempts], ['["\\u0000"]', meta, 7, 3]);
      assert.equal(next.chainId, id);
      assert.equal((await subject.backend.progress.get(chainKey(id)))?.percent, 100 / 3);
      await subject.backend.ack([next]);
      const last = await subject.claimAfter(0, third, async () => undefined);
      assert.deepEqual([last.payload, last.chainId], ['["c"]', id]);
      await subject.backend.ack([last]);
      const { percent, state } = (await subject.backend.progress.get(chainKey(id))) ?? {};
      assert.deepEqual([percent, state], [100, "finished"]);
      await subject.assertDepth(third, {});
    },
  },
  {
    rule: "J4",
    name: "an acknowledgement that comes late or twice hands nothing over",
    async run(subject) {
      const second = subject.name();
      const { batch } = await begin(subject, [step(second, "b")]);
      await subject.backend.release([batch], 0);
      const again = await subject.claimOne(batch.queue);
      assert.equal((await subject.backend.ack([batch])).size, 0);
      await subject.assertDepth(second, {});
      await subject.backend.ack([again]);
      await subject.backend.ack([again]);
      await subject.assertDepth(second, { pending: 1 });
    },
  },
  {
    rule: "J4",
    name: "a dead step shows what follows it, and goes on from there when it is redriven",
    async run(subject) {
      const second = subject.name();
      const { batch, id } = await begin(subject, [step(second, "b")]);
      const { inspector, progress } = subject.backend;
      await subject.backend.deadLetter([{ lease: batch, reason: "rejected", error: "no" }]);
      const [letter] = await inspector.dead({ queue: batch.queue });
      assert.deepEqual(letter?.chain, { id, step: 1, steps: 2, remaining: [{ queue: second, payload: '["b"]' }] });
      assert.equal((await progress.get(chainKey(id)))?.state, "failed");
      await inspector.redrive({ queue: batch.queue });
      assert.equal((await progress.get(chainKey(id)))?.state, "running");
      await subject.backend.ack([await subject.claimOne(batch.queue)]);
      assert.equal((await subject.claimOne(second)).chainId, id);
    },
  },
  {
    rule: "D1",
    name: "a chain's step is a handler call of its own",
    async run(subject) {
      const queue = subject.name();
      const chain = encodeChain({ id: subject.name("chain"), step: 1, steps: 2, rest: [step(queue, "b")] });
      for (let index = 0; index < 2; index += 1) await subject.publish(queue, [index], { chain });
      const batches = await subject.claim(queue, { merge: { messages: 100, bytes: 1_000 } });
      assert.equal(new Set(batches.map(({ call }) => call)).size, batches.length);
    },
  },
  {
    rule: "J4",
    name: "the remaining steps survive every way to die",
    async run(subject) {
      const second = subject.name();
      const { backend } = subject;
      const queue = await subject.register({ maxAttempts: 1, staleAfterMs: 100, orphanAfterMs: 100 });
      const attempts = (await begin(subject, [step(second, "b")], queue)).batch;
      await backend.retry([{ lease: attempts, delayMs: 0, error: "x" }]);
      const schema = (await begin(subject, [step(second, "b")], queue)).batch;
      const invalid = [{ payload: '["a"]', position: 0, reason: "schema" as const, error: "x" }];
      await backend.settlePart({ lease: schema, dead: invalid });
      await begin(subject, [step(second, "b")], queue);
      await subject.until(
        async () => (await subject.poll([], { recover: true })).recovered.length > 0,
        "not recovered",
      );
      const letters = await backend.inspector.dead({ queue });
      assert.deepEqual(
        letters.map(({ reason, chain }) => [reason, chain?.remaining.length]),
        [
          ["attempts", 1],
          ["schema", 1],
          ["crash", 1],
        ],
      );
    },
  },
];

function step(queue: string, message: unknown): RemainingStep {
  return { queue, version: 1, priority: 100, payload: JSON.stringify([message]) };
}

async function begin(subject: Subject, rest: readonly RemainingStep[], queue = subject.name()) {
  const id = subject.name("chain");
  const chain = encodeChain({ id, step: 1, steps: rest.length + 1, rest });
  return { id, batch: await subject.inFlight(queue, ["a"], { chain }) };
}
