import assert from "node:assert/strict";
import type { ConformanceCase } from "./case.js";
import type { Subject } from "./subject.js";

/** Taking back from the dead and the silent. */
export const recoverCases: readonly ConformanceCase[] = [
  {
    rule: "R4",
    name: "a stale batch is there again with one crash, no attempt spent, and the answer says so",
    async run(subject) {
      const queue = await subject.register({ staleAfterMs: 1 });
      const batch = await subject.inFlight(queue);
      assert.deepEqual(await crash(subject, queue), { queue, reason: "stale", recovered: 1, died: 0 });
      const again = await subject.claimOne(queue);
      assert.deepEqual([again.id, again.crashes, again.failures], [batch.id, 1, 0]);
      assert.equal((await subject.backend.ack([batch])).size, 0);
      await subject.backend.ack([again]);
    },
  },
  {
    rule: "J3",
    name: "a publish's own staleAfterMs stands for the queue's",
    async run(subject) {
      const queue = await subject.register({ staleAfterMs: 3_600_000 });
      await subject.inFlight(queue, ["a"], { staleAfterMs: 1 });
      assert.equal((await crash(subject, queue)).recovered, 1);
    },
  },
  {
    rule: "R4",
    name: "each batch is recovered by exactly one of many callers",
    async run(subject) {
      const queue = await subject.register({ staleAfterMs: 200 });
      for (let index = 0; index < 25; index += 1) await subject.publish(queue, [index]);
      await subject.claim(queue, { limit: 50 });
      let recovered = 0;
      const caller = async () => {
        for (;;) {
          const own = (await subject.poll([], { recover: true })).recovered.filter((one) => one.queue === queue);
          if (own.length === 0) return;
          recovered += own.reduce((sum, one) => sum + one.recovered, 0);
        }
      };
      await subject.until(async () => {
        await Promise.all([caller(), caller(), caller(), caller()]);
        return recovered >= 25 * subject.copies;
      }, "not all were recovered");
      assert.equal(recovered, 25 * subject.copies);
      await subject.assertDepth(queue, { pending: 25 * subject.copies });
    },
  },
  {
    rule: "R5",
    name: "a single message dies at its last crash, and the text names what else was in flight",
    async run(subject) {
      const queue = await subject.register({ staleAfterMs: 1, maxAttempts: 2 });
      const batch = await subject.inFlight(queue);
      assert.equal((await crash(subject, queue)).recovered, 1);
      await subject.claimOne(queue, { owner: "the lost" });
      const other = subject.name();
      await subject.publish(other);
      const company = await subject.claimOne(other, { owner: "the lost" });
      assert.equal((await crash(subject, queue)).died, 1);
      await subject.assertDepth(queue, { dead: 1 });
      const [letter] = await subject.backend.inspector.dead({ queue });
      assert.deepEqual([letter?.reason, letter?.crashes, letter?.failures], ["crash", 2, 0]);
      assert.deepEqual([letter?.batchId, letter?.owner], [batch.id, "the lost"]);
      assert.match(letter?.error ?? "", /bystander/);
      assert.ok(letter?.error?.includes(`${other}/${company.id}`), letter?.error);
      await subject.backend.ack([company]);
    },
  },
  {
    rule: "R5",
    name: "a batch of several messages never dies of crashes",
    async run(subject) {
      const queue = await subject.register({ staleAfterMs: 1, maxAttempts: 1 });
      await subject.inFlight(queue, ["a", "b"]);
      assert.equal((await crash(subject, queue)).recovered, 1);
      assert.equal((await subject.claimOne(queue)).crashes, 1);
    },
  },
  {
    rule: "R3",
    name: "what a dead node held is an orphan, what a living one holds is not, however silent",
    async run(subject) {
      const queue = await subject.register({ orphanAfterMs: 1 });
      const owner = subject.name("owner");
      const session = await live(subject, owner);
      await subject.publish(queue);
      await subject.claim(queue, { owner });
      const looks = async () => (await subject.poll([], { recover: true, orphans: true })).recovered;
      for (let look = 0; look < 5; look += 1) assert.ok(!(await looks()).some((one) => one.queue === queue));
      await session.close();
      const own = await subject.until(async () => {
        return (await looks()).find((one) => one.queue === queue);
      }, "the orphan was never recovered");
      assert.deepEqual(own, { queue, reason: "orphan", recovered: subject.copies, died: 0 });
      await subject.assertDepth(queue, { pending: subject.copies });
    },
  },
  {
    rule: "R3",
    name: "a node that never had a session cannot be told from a dead one: its batches are no orphans, and who may not look finds none",
    async run(subject) {
      const queue = await subject.register({ orphanAfterMs: 1 });
      const [mute, dead] = [subject.name("owner"), subject.name("owner")];
      await subject.backend.noteNode(mute, "mute", {});
      await (await live(subject, dead)).close();
      await subject.publish(queue);
      await subject.claim(queue, { owner: mute });
      const other = await subject.register({ orphanAfterMs: 1 });
      await subject.publish(other);
      await subject.claim(other, { owner: dead });
      for (let look = 0; look < 5; look += 1) {
        const { recovered } = await subject.poll([], { recover: true, orphans: false });
        assert.ok(!recovered.some((one) => one.queue === other));
      }
      await subject.until(async () => {
        const { recovered } = await subject.poll([], { recover: true, orphans: true });
        assert.ok(!recovered.some((one) => one.queue === queue));
        return recovered.some((one) => one.queue === other);
      }, "the orphan was never recovered");
      await subject.assertDepth(queue, { processing: subject.copies });
    },
  },
  {
    rule: "E2",
    name: "the slot of an exclusive queue is free when its holder is lost",
    async run(subject) {
      const queue = await subject.register({ exclusive: true, staleAfterMs: 1, maxAttempts: 1 });
      await subject.inFlight(queue);
      assert.equal((await crash(subject, queue)).died, 1);
      await subject.publish(queue);
      assert.equal((await subject.claim(queue)).length, 1);
    },
  },
];

async function live(subject: Subject, owner: string) {
  await subject.backend.noteNode(owner, owner, {});
  const session = await subject.listen();
  await session.liveAs(owner);
  return session;
}

/** Lets the queue's batches be recovered; what the answer said of them. */
async function crash(subject: Subject, queue: string) {
  return await subject.until(async () => {
    const { recovered } = await subject.poll([], { recover: true });
    return recovered.find((one) => one.queue === queue);
  }, `nothing of ${queue} was recovered`);
}
