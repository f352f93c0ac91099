import assert from "node:assert/strict";
import { messageId } from "../../batch/batch.js";
import type { ConformanceCase } from "./case.js";
import type { Subject } from "./subject.js";

/** What operators ask and do. */
export const inspectCases: readonly ConformanceCase[] = [
  {
    rule: "J2",
    name: "depths count each status, and the oldest that waits tells its age",
    async run(subject) {
      const queue = subject.name();
      await subject.inFlight(queue);
      await subject.publish(queue, [2], { delayMs: 3_600_000 });
      await subject.publish(queue, [3]);
      await subject.assertDepth(queue, { pending: subject.copies, delayed: subject.copies, processing: 1 });
      const { oldestAt } = await subject.depth(queue);
      assert.ok(oldestAt !== undefined && Math.abs(Date.now() - oldestAt.getTime()) < 60_000);
    },
  },
  {
    rule: "M2",
    name: "the gauges count each status, how old the oldest waiting message is, and what no live node can consume",
    async run(subject) {
      const queue = subject.name();
      await subject.inFlight(queue);
      await subject.publish(queue, [2], { delayMs: 3_600_000 });
      await subject.publish(queue, [3]);
      const gauges = (await subject.backend.inspector.gauges()).find((found) => found.queue === queue);
      assert.ok(gauges !== undefined);
      const depths = { pending: subject.copies, delayed: subject.copies, processing: 1, dead: 0 };
      assert.deepEqual([gauges.depths, gauges.estimated, gauges.unconsumable], [depths, [], 0]);
      assert.ok(gauges.oldestAgeMs !== undefined && gauges.oldestAgeMs >= 0 && gauges.oldestAgeMs < 60_000);
      const owner = subject.name("owner");
      await subject.backend.noteNode(owner, "a node", { [queue]: 0 });
      const after = (await subject.backend.inspector.gauges()).find((found) => found.queue === queue);
      await subject.backend.noteNode(owner, "a node");
      assert.equal(after?.unconsumable, subject.copies);
    },
  },
  {
    rule: "J2",
    name: "peek shows what would be claimed next, and leaves it",
    async run(subject) {
      const queue = subject.name();
      await subject.publish(queue, ["later"]);
      const [id] = await subject.publish(queue, ["first"], { priority: 1 });
      const [view] = await subject.backend.inspector.peek(queue, "pending", 1);
      assert.deepEqual([view?.batchId, view?.payload, view?.status], [id, '["first"]', "pending"]);
      assert.deepEqual(view?.messageIds, [`${id}.0`]);
      assert.equal((await subject.depth(queue)).pending, 2 * subject.copies);
    },
  },
  {
    rule: "D13",
    name: "redriven messages have a fresh count, and keep their ids, headers and first publish time",
    async run(subject) {
      const queue = subject.name();
      const batch = await subject.inFlight(queue, ["a", "b"], { meta: "[{},{}]" });
      const dead = [{ payload: '["b"]', meta: '[{"h":"1"}]', position: 1, reason: "schema" as const, error: "x" }];
      await subject.backend.settlePart({ lease: batch, dead });
      const back = await subject.backend.inspector.redrive({ queue });
      assert.equal(back.length, 1);
      await subject.assertDepth(queue, { pending: 1 });
      const again = await subject.claimOne(queue);
      assert.deepEqual([again.failures, again.crashes, again.meta], [0, 0, '[{"h":"1"}]']);
      assert.equal(messageId(again, 0), `${batch.id}.1`);
      assert.equal(again.publishedAt.getTime(), batch.publishedAt.getTime());
      await subject.backend.deadLetter([{ lease: again, reason: "rejected", error: "y \u0000" }]);
      assert.equal(await subject.backend.inspector.countDead({ queue }), 1);
      await subject.backend.inspector.redrive({ queue });
      const [view] = await subject.backend.inspector.peek(queue, "pending");
      assert.deepEqual(
        view?.history.map(({ reason, error, diedAt }) => [reason, error, diedAt instanceof Date]),
        [
          ["schema", "x", true],
          ["rejected", "y \u0000", true],
        ],
      );
    },
  },
  {
    rule: "J2",
    name: "dead letters are listed, redriven and purged by id, reason and number; each goes back once",
    async run(subject) {
      const queue = subject.name();
      for (let index = 0; index < 4; index += 1) await die(subject, queue, index % 2 === 0 ? "schema" : "rejected");
      const { inspector } = subject.backend;
      const letters = await inspector.dead({ queue });
      assert.deepEqual(
        letters.map(({ reason }) => reason),
        ["schema", "rejected", "schema", "rejected"],
      );
      const [first, second] = letters;
      assert.ok(first !== undefined && second !== undefined);
      assert.equal((await inspector.dead({ queue, afterDeadId: first.deadId, limit: 2 })).length, 2);
      assert.equal(await inspector.purge({ queue, deadIds: [second.deadId] }), 1);
      assert.equal(await inspector.purge({ queue: subject.name(), deadIds: [first.deadId] }), 0);
      const once = await Promise.all([inspector.redrive({ queue, limit: 1 }), inspector.redrive({ queue, limit: 3 })]);
      assert.deepEqual(
        once.flat().sort(),
        letters
          .filter((letter) => letter !== second)
          .map(({ deadId }) => deadId)
          .sort(),
      );
      await subject.assertDepth(queue, { pending: 3 });
    },
  },
  {
    rule: "J2",
    name: "clear and cancel remove what waits, never what is in flight",
    async run(subject) {
      const queue = subject.name();
      const running = await subject.inFlight(queue);
      const [id = ""] = await subject.publish(queue, [1], { delayMs: 3_600_000 });
      await subject.publish(queue, [2]);
      const { inspector } = subject.backend;
      assert.equal(await inspector.cancel(queue, running.id), false);
      assert.equal(await inspector.cancel(queue, id), true);
      assert.equal(await inspector.cancel(queue, id), false);
      assert.equal(await inspector.clear(queue), 2 * subject.copies - 1);
      await subject.assertDepth(queue, { processing: 1 });
    },
  },
  {
    rule: "D10",
    name: "what is newer than every living node is counted, and no more once a node knows it",
    async run(subject) {
      const queue = subject.name();
      await subject.publish(queue, [1], { version: 3 });
      await subject.publish(queue, [1], { version: 2 });
      const counted = async () => (await subject.backend.inspector.unconsumable()).filter((one) => one.queue === queue);
      assert.deepEqual(await counted(), []);
      const [old, young] = [subject.name("owner"), subject.name("owner")];
      await subject.backend.noteNode(old, "old", { [queue]: 2 });
      assert.deepEqual(await counted(), [{ queue, knownVersion: 2, batches: subject.copies }]);
      await subject.backend.noteNode(young, "young", { [queue]: 3 });
      assert.deepEqual(await counted(), []);
      await subject.backend.noteNode(young, "young");
      assert.equal((await counted()).length, 1);
      const seen = (await subject.backend.inspector.nodes()).filter(({ owner }) => [old, young].includes(owner));
      assert.deepEqual(
        seen.map(({ name, alive }) => [name, alive]),
        [
          ["young", false],
          ["old", true],
        ],
      );
    },
  },
  {
    rule: "D6",
    name: "what a node refuses is listed with it until somebody resumes the queue, and the node is told once",
    async run(subject) {
      const queue = await subject.register();
      const [node, other] = [subject.name("owner"), subject.name("owner")];
      for (const owner of [node, other]) await subject.backend.noteNode(owner, owner, {});
      const listed = async () => {
        const nodes = await subject.backend.inspector.nodes();
        return nodes.filter(({ refused }) => refused.includes(queue)).map(({ owner }) => owner);
      };
      const told = async (owner: string, fresh: string[], known: string[]) => {
        return (await subject.poll([], { owner, refusals: { fresh, known } })).resumed ?? [];
      };
      for (const owner of [node, other]) assert.deepEqual(await told(owner, [queue], []), []);
      assert.deepEqual((await listed()).sort(), [node, other].sort());
      assert.deepEqual(await told(node, [], [queue]), []);
      await subject.backend.inspector.resume(queue);
      assert.deepEqual(await listed(), []);
      for (const owner of [node, other]) assert.deepEqual(await told(owner, [], [queue]), [queue]);
    },
  },
  {
    rule: "D4",
    name: "dead letters past their retention are deleted, the others stay",
    async run(subject) {
      const queue = await subject.register({ deadLetter: { retentionMs: 1 } });
      const kept = await subject.register();
      await die(subject, queue, "rejected");
      await die(subject, kept, "rejected");
      await subject.until(async () => {
        await subject.poll([], { prune: true });
        return (await subject.depth(queue)).dead === 0;
      }, "the letter was never deleted");
      await subject.assertDepth(kept, { dead: 1 });
    },
  },
];

async function die(subject: Subject, queue: string, reason: "schema" | "rejected"): Promise<void> {
  const lease = await subject.inFlight(queue);
  await subject.backend.deadLetter([{ lease, reason, error: reason }]);
}
