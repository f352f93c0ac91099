import assert from "node:assert/strict";
import { monotonicMs } from "../../time.js";
import type { ConformanceCase } from "./case.js";

/** Limits across the cluster. */
export const limitCases: readonly ConformanceCase[] = [
  {
    rule: "J11",
    name: "maxInFlight: so many batches in flight however many ask at once; each that ends lets one in",
    async run(subject) {
      const queue = await subject.register({ maxInFlight: 3, maxAttempts: 1 });
      for (let index = 0; index < 8; index += 1) await subject.publish(queue, [index]);
      const asked = await Promise.all(Array.from({ length: 6 }, () => subject.claim(queue, { limit: 2 })));
      const running = asked.flat();
      // Of those that asked at once some may have been turned away: what they left is there for the next.
      running.push(...(await subject.claim(queue)));
      assert.equal(running.length, 3);
      assert.equal((await subject.claim(queue)).length, 0);
      const [a, b, c] = running;
      assert.ok(a !== undefined && b !== undefined && c !== undefined);
      await subject.backend.ack([a]);
      assert.equal((await subject.claim(queue)).length, 1);
      await subject.backend.retry([{ lease: b, delayMs: 0, error: "no" }]);
      await subject.backend.release([c], 0);
      assert.equal((await subject.claim(queue)).length, 2);
      assert.equal((await subject.claim(queue)).length, 0);
    },
  },
  {
    rule: "J11",
    name: "maxInFlight that comes, or is lowered, first lets drain what is in flight; raised or gone it holds at once",
    async run(subject) {
      const queue = await subject.register();
      for (let index = 0; index < 9; index += 1) await subject.publish(queue, [index]);
      const running = await subject.claim(queue, { limit: 3 });
      await subject.register({ maxInFlight: 2 }, queue);
      await subject.backend.ack(running.slice(0, 2));
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.backend.ack(running.slice(2));
      const two = await subject.claim(queue);
      assert.equal(two.length, 2);
      await subject.register({ maxInFlight: 3 }, queue);
      const third = await subject.claim(queue);
      assert.equal(third.length, 1);
      await subject.register({ maxInFlight: 1 }, queue);
      await subject.backend.ack(two);
      await subject.backend.ack(third);
      assert.equal((await subject.claim(queue)).length, 1);
      await subject.register({}, queue);
      assert.equal((await subject.claim(queue)).length, 9 * subject.copies - 7);
    },
  },
  {
    rule: "J11",
    name: "maxInFlight: the place of a lost node's batch is free when that is recovered",
    async run(subject) {
      const queue = await subject.register({ maxInFlight: 1, staleAfterMs: 1 });
      await subject.publish(queue);
      const lost = await subject.claimOne(queue);
      const again = await subject.until(
        async () => (await subject.poll([queue], { recover: true })).batches[0],
        "it was never recovered",
      );
      assert.equal((await subject.backend.ack([lost])).size, 0);
      assert.equal((await subject.backend.ack([again])).size, 1);
    },
  },
  {
    rule: "J11",
    name: "rate: so many messages in any stretch, whoever asks; the time when there are more is told",
    async run(subject) {
      const perMs = 300;
      const queue = await subject.register({ rate: { limit: 4, perMs } });
      for (let index = 0; index < 6; index += 1) await subject.publish(queue, [index, index]);
      const begun = monotonicMs();
      const given: number[] = [];
      let due: number | undefined;
      await subject.until(async () => {
        const results = await Promise.all(Array.from({ length: 3 }, () => subject.poll([queue])));
        const at = monotonicMs();
        for (const { batches, dueInMs } of results) {
          for (const batch of batches) for (let n = 0; n < batch.messageCount; n += 1) given.push(at);
          due = dueInMs ?? due;
          await subject.backend.ack(batches);
        }
        return given.length >= 10;
      }, "not everything was given out");
      assert.ok(due !== undefined && due <= perMs + perMs / 100 + 1, `due in ${due}`);
      assert.ok(monotonicMs() - begun >= 2 * perMs, "ten messages at four per stretch take two stretches");
      assert.ok((given[3] ?? 0) - begun < perMs, "the first four come at once");
    },
  },
  {
    rule: "J11",
    name: "rate: a batch that alone is over the limit goes when nothing else has gone",
    async run(subject) {
      const queue = await subject.register({ rate: { limit: 2, perMs: 3_600_000 } });
      await subject.publish(queue, [1, 2, 3]);
      assert.equal((await subject.claim(queue)).length, 1);
      await subject.publish(queue, [4]);
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.register({}, queue);
      assert.equal((await subject.claim(queue)).length, 2 * subject.copies - 1);
    },
  },
  {
    rule: "J11",
    name: "limits and lines together: each is kept",
    async run(subject) {
      const queue = await subject.register({ maxInFlight: 2, orderBy: { by: "/k", onFailure: "block" } });
      for (const key of ["a", "a", "b", "c"]) await subject.publish(queue, [key], { orderKey: key });
      const running = await subject.claim(queue);
      assert.deepEqual(
        running.map(({ payload }) => payload),
        ['["a"]', '["b"]'],
      );
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.backend.ack(running.slice(1));
      const [next] = await subject.claim(queue);
      assert.notEqual(next?.payload, '["a"]');
    },
  },
];
