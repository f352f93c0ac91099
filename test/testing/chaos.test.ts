/** Rules K3 and K4: a backend that misbehaves by a seed, and what delivery makes of it. */
import assert from "node:assert/strict";
import test from "node:test";
import { ChaosError, chaos, Subject, withTestMq } from "../../src/testing/testing.js";
import { testQueue } from "../support/queue-definition.js";

const backoff = { initialMs: 1, factor: 1, maxMs: 1, jitter: 0 };
const queues = [testQueue("q", { concurrency: 4, maxBatchMessages: 3, backoff })];

for (const faults of [
  { failStatement: 0.3, delayMs: 2 },
  { loseAck: 0.4 },
  { expireLease: 0.3 },
  { duplicate: 0.5, reorder: 0.5 },
  { duplicate: 0.2, delayMs: 2, reorder: 0.2, failStatement: 0.1, loseAck: 0.1, expireLease: 0.1 },
]) {
  test(`K4 every message reaches a handler, whatever goes wrong: ${JSON.stringify(faults)}`, async () => {
    const seen = new Set<number>();
    let calls = 0;
    const q = (messages: readonly { readonly n: number }[]) => {
      for (const { n } of messages) seen.add(n);
      calls += messages.length;
    };
    await withTestMq({ queues, backend: chaos({ seed: 7, ...faults }), handlers: { q } }, async (mq) => {
      for (let n = 0; n < 40; n += 1) await mq.queue("q").publish({ n });
      await mq.settled({ timeoutMs: 30_000 });
    });
    assert.equal(seen.size, 40);
    assert.ok(calls >= 40);
  });
}

async function faultsOf(seed: number): Promise<string> {
  const subject = new Subject(chaos({ seed, failStatement: 0.5 }));
  const queue = subject.name();
  const faults: string[] = [];
  for (let call = 0; call < 40; call += 1) {
    await subject.claim(queue).then(
      () => faults.push("."),
      (error: unknown) => faults.push(error instanceof ChaosError ? "x" : "?"),
    );
  }
  return faults.join("");
}

test("K4 the same seed repeats the same run, another seed another", async () => {
  const run = await faultsOf(1);
  assert.match(run, /^[.x]*$/);
  assert.equal(await faultsOf(1), run);
  assert.notEqual(await faultsOf(2), run);
});

test("K3 with duplicate delivery a handler sees everything twice, and publishers are told of one", async () => {
  const seen: number[] = [];
  const handlers = {
    q: (messages: readonly { readonly n: number }[]) => void seen.push(...messages.map(({ n }) => n)),
  };
  await withTestMq({ queues, handlers, duplicateDelivery: true }, async (mq) => {
    const { batchIds } = await mq.queue("q").publish.many([{ n: 1 }, { n: 2 }]);
    assert.equal(batchIds.length, 1);
    await mq.transaction(() => mq.queue("q").publish({ n: 3 }));
    await mq.settled();
  });
  assert.deepEqual(seen.toSorted(), [1, 1, 2, 2, 3, 3]);
});
