import assert from "node:assert/strict";
import type { Batch } from "../../batch/batch.js";
import type { ConformanceCase } from "./case.js";

const payloads = (batches: readonly Batch[]) => batches.map(({ payload }) => payload);

/** Leasing batches. */
export const claimCases: readonly ConformanceCase[] = [
  {
    rule: "D1",
    name: "batches come by priority, smaller first, then oldest first, at most as many as asked for",
    async run(subject) {
      const queue = subject.name();
      for (const [message, priority] of [
        ["c", 100],
        ["d", 100],
        ["a", -5],
        ["e", 2_147_483_647],
        ["b", 7],
      ] as const) {
        await subject.publish(queue, [message], { priority });
      }
      const first = await subject.claim(queue, { limit: 3 * subject.copies });
      const rest = await subject.claim(queue, { limit: 100 });
      const expected = ["a", "b", "c", "d", "e"].flatMap((message) => Array(subject.copies).fill(`["${message}"]`));
      assert.deepEqual(payloads(first), expected.slice(0, 3 * subject.copies));
      assert.deepEqual(payloads(rest), expected.slice(3 * subject.copies));
    },
  },
  {
    rule: "D1",
    name: "one look serves several queues, each to its own limit",
    async run(subject) {
      const [one, other, empty] = [subject.name(), subject.name(), subject.name()];
      for (let index = 0; index < 3; index += 1) {
        await subject.publish(one);
        await subject.publish(other);
      }
      const { batches } = await subject.poll([one, empty, other], { limit: 2 });
      assert.deepEqual(batches.map(({ queue }) => queue).sort(), [one, one, other, other].sort());
    },
  },
  {
    rule: "R1",
    name: "a claimed batch carries what was published, and a token that is new at every claim",
    async run(subject) {
      const queue = subject.name();
      const meta = '[{"k":"v"},{}]';
      const batch = await subject.inFlight(queue, ["ü\u0000\ud800", 2], {
        meta,
        version: 1,
        maxAttempts: 9,
        priority: 3,
      });
      assert.equal(batch.payload, JSON.stringify(["ü\u0000\ud800", 2]));
      assert.equal(batch.bytes, Buffer.byteLength(batch.payload));
      const { meta: kept, messageCount, maxAttempts, priority, failures, crashes, originId } = batch;
      assert.deepEqual(
        { kept, messageCount, maxAttempts, priority, failures, crashes, originId },
        { kept: meta, messageCount: 2, maxAttempts: 9, priority: 3, failures: 0, crashes: 0, originId: batch.id },
      );
      assert.equal(typeof batch.id, "string");
      assert.ok(Math.abs(batch.publishedAt.getTime() - Date.now()) < 60_000);
      await subject.backend.release([batch], 0);
      const again = await subject.claimOne(queue);
      assert.equal(again.id, batch.id);
      assert.notEqual(again.token, batch.token);
    },
  },
  {
    rule: "R1",
    name: "of many callers at once, none gets what another got",
    async run(subject) {
      const queue = subject.name();
      const published: string[] = [];
      for (let index = 0; index < 20; index += 1) published.push(...(await subject.publish(queue, [index])));
      const claimed: string[] = [];
      const caller = async (owner: string) => {
        for (;;) {
          const batches = await subject.claim(queue, { owner, limit: 3 });
          if (batches.length === 0) return;
          claimed.push(...batches.map(({ id }) => id));
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, index) => caller(`node ${index}`)));
      assert.deepEqual(claimed.sort(), published.sort());
    },
  },
  {
    rule: "D10",
    name: "a batch newer than the node knows waits for a newer node, and does not hold up the others",
    async run(subject) {
      const queue = subject.name();
      await subject.publish(queue, ["new"], { version: 2 });
      await subject.publish(queue, ["old"]);
      assert.deepEqual(payloads(await subject.claim(queue)), Array(subject.copies).fill('["old"]'));
      assert.deepEqual(payloads(await subject.claim(queue, { version: 2 })), Array(subject.copies).fill('["new"]'));
    },
  },
  {
    rule: "D7",
    name: "an answer holds no more bytes than asked for, but one batch whatever its size",
    async run(subject) {
      const queue = subject.name();
      for (let index = 0; index < 4; index += 1) await subject.publish(queue, ["x".repeat(996)]);
      assert.equal((await subject.claim(queue, { maxBytes: 10 })).length, 1);
      assert.equal((await subject.claim(queue, { maxBytes: 2_500 })).length, 2);
      assert.equal((await subject.claim(queue)).length, 4 * subject.copies - 3);
    },
  },
  {
    rule: "D7",
    name: "the bound on bytes starves no queue: each gets its share of what is left",
    async run(subject) {
      const [one, other] = [subject.name(), subject.name()];
      for (let index = 0; index < 8; index += 1) await subject.publish(one, ["x".repeat(996)]);
      await subject.publish(other, ["x".repeat(996)]);
      const { batches } = await subject.poll([one, other], { maxBytes: 4_500 });
      assert.deepEqual(
        batches
          .map(({ queue }) => (queue === one ? 1 : 2))
          .sort()
          .slice(0, 3),
        [1, 1, 2],
      );
    },
  },
  {
    rule: "D1",
    name: "batches share a call while they fit; what failed before has one of its own",
    async run(subject) {
      const queue = subject.name();
      for (const messages of [[1], [2, 2], [3], [4, 4, 4], [5]]) await subject.publish(queue, messages);
      const failed = await subject.claimOne(queue);
      await subject.backend.release([failed], 0);
      await subject.backend.retry([{ lease: await subject.claimOne(queue), delayMs: 0, error: "e" }]);
      const merge = { messages: 3 * subject.copies, bytes: 1_000 };
      const { batches } = await subject.poll([queue], { limit: 4, merge, maintain: true });
      const calls = new Map<number, number>();
      for (const { call, messageCount, failures } of batches) {
        if (failures > 0) assert.ok(!calls.has(call), "the failed batch shares its call");
        calls.set(call, (calls.get(call) ?? 0) + messageCount);
      }
      assert.deepEqual([...calls.keys()], [1, 2, 3, 4].slice(0, calls.size));
      for (const messages of calls.values()) assert.ok(messages <= merge.messages, `${messages} in one call`);
      assert.ok(batches.length > calls.size);
    },
  },
  {
    rule: "D1",
    name: "no more calls than asked for are filled, none beyond its bytes; the rest stays for others",
    async run(subject) {
      const queue = subject.name();
      for (let index = 0; index < 6; index += 1) await subject.publish(queue, ["x".repeat(96)]);
      const first = await subject.claim(queue, { limit: 1, merge: { messages: 100, bytes: 250 } });
      assert.deepEqual([first.length, new Set(first.map(({ call }) => call)).size], [2, 1]);
      const rest = await subject.claim(queue, { limit: 100, merge: { messages: 100, bytes: 250 } });
      assert.equal(rest.length, 6 * subject.copies - 2);
      assert.equal(new Set(rest.map(({ call }) => call)).size, rest.length / 2);
    },
  },
  {
    rule: "E1",
    name: "an exclusive queue has one batch in flight, however many ask at once, and does not hold up others",
    async run(subject) {
      const [queue, plain] = [await subject.register({ exclusive: true }), subject.name()];
      for (let index = 0; index < 3; index += 1) await subject.publish(queue, [index]);
      const asked = await Promise.all(Array.from({ length: 6 }, () => subject.claim(queue, { limit: 5 })));
      const [first, ...more] = asked.flat();
      assert.ok(first !== undefined);
      assert.equal(more.length, 0);
      await subject.publish(plain);
      assert.equal((await subject.poll([queue, plain])).batches.length, subject.copies);
      await subject.backend.ack([first]);
      assert.equal((await subject.claim(queue, { limit: 5 })).length, 1);
    },
  },
  {
    rule: "E1",
    name: "a queue that becomes exclusive drains first; one that ceases to be is limited no more",
    async run(subject) {
      const queue = await subject.register();
      for (let index = 0; index < 3; index += 1) await subject.publish(queue, [index]);
      const running = await subject.claim(queue, { limit: 2 });
      await subject.register({ exclusive: true }, queue);
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.backend.ack(running.slice(0, 1));
      assert.equal((await subject.claim(queue)).length, 0);
      await subject.backend.ack(running.slice(1));
      assert.equal((await subject.claim(queue)).length, 1);
      await subject.register({ exclusive: false }, queue);
      assert.equal((await subject.claim(queue)).length, 3 * subject.copies - 3);
    },
  },
  {
    rule: "J7",
    name: "a paused queue gives nothing, from the next claim on; what is in flight goes on",
    async run(subject) {
      const queue = subject.name();
      await subject.publish(queue, [1]);
      await subject.publish(queue, [2]);
      const running = await subject.claimOne(queue);
      await subject.backend.inspector.pause(queue);
      assert.equal((await subject.claim(queue)).length, 0);
      assert.equal((await subject.depth(queue)).paused, true);
      assert.ok((await subject.backend.ack([running])).has(running.id));
      await subject.backend.inspector.resume(queue);
      assert.equal((await subject.claim(queue)).length, 2 * subject.copies - 1);
    },
  },
  {
    rule: "D1",
    name: "a mark only saves reading: other priorities and queues are untouched, and without it everything is found",
    async run(subject) {
      const queue = subject.name();
      const [low = ""] = await subject.publish(queue, ["low"]);
      await subject.publish(queue, ["urgent"], { priority: 1 });
      await subject.publish(queue, ["lazy"], { priority: 200 });
      const [high = ""] = await subject.publish(queue, ["high"]);
      assert.ok(BigInt(low) < BigInt(high));
      const found = payloads(await subject.claim(queue, { marks: [{ queue, priority: 100, fromId: high }] }));
      for (const message of ["urgent", "high", "lazy"]) assert.ok(found.includes(`["${message}"]`), message);
      assert.equal(found.length + (await subject.claim(queue)).length, 4 * subject.copies);
    },
  },
];
