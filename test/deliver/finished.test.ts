/** D3: what has ended of a running `each` call leaves its batch with the next heartbeat. */
import assert from "node:assert/strict";
import { DeadLetter } from "../../src/errors.js";
import { type Cluster, onBothBackends } from "../support/both-backends.js";
import { heard, nextEvent } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";
import { numbersOf, upTo } from "../support/stored.js";

const db = await testDatabase();
const soon = { backoff: { initialMs: 1, factor: 1, maxMs: 1, jitter: 0 } };

/** A call of five: 0 and 2 are done, 1 fails, 3 is given up, 4 runs until it is told to end. */
async function running(on: Cluster, queue: string, options = {}) {
  const mq = on.client({ queues: [testQueue(queue, { ...soon, ...options })], pollMs: 600_000, heartbeatMs: 50 });
  const calls: number[] = [];
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  mq.queue(queue).listen.each(
    async (message, { attempt }) => {
      const { n } = message as TestMessage;
      calls.push(n);
      if (n === 1 && attempt === 1) throw new Error("once");
      if (n === 3) throw new DeadLetter("never");
      if (n === 4) await ended;
    },
    { concurrency: 5 },
  );
  const dead = heard(mq, "dead");
  await mq.start();
  await mq.queue(queue).publish.many(upTo(5).map((n) => ({ n })));
  const left = async () => numbersOf(await on.inspector.peek(queue, "processing"));
  await eventually(async () => (await left()).length === 2, { otherwise: async () => (await left()).join() });
  return { mq, calls, end, dead, left };
}

onBothBackends(
  db,
  "D3 finished messages leave with the heartbeat, and nothing is said or done twice",
  async (_, on) => {
    const { mq, calls, end, dead, left } = await running(on, "finished");
    assert.deepEqual(await left(), [1, 4], "what failed stays for its next attempt");
    assert.deepEqual(
      (await on.inspector.dead({ queue: "finished" })).map(({ reason }) => reason),
      ["rejected"],
    );
    const done = nextEvent(mq, "handled", ({ status }) => status === "ok");
    end();
    await done;
    await eventually(async () => (await on.inspector.peek("finished", "processing")).length === 0);
    assert.deepEqual([...calls].sort(), [0, 1, 1, 2, 3, 4]);
    assert.equal(dead.length, 1);
    assert.equal(await on.inspector.countDead({ queue: "finished" }), 1);
  },
);

onBothBackends(db, "D3, R6 what a forced stop gives back is only the rest", async (_, on) => {
  const { mq, end } = await running(on, "finished-stop");
  await mq.stop({ timeoutMs: 0 });
  end();
  const [batch] = await on.inspector.peek("finished-stop", "pending");
  assert.deepEqual(batch === undefined ? [] : numbersOf([batch]), [1, 4]);
  assert.equal(batch?.failures, 0);
});

onBothBackends(
  db,
  "D3, D11 of a call whose time is over and that does not end, only what had begun fails",
  async (_, on) => {
    const backoff = { initialMs: 600_000, factor: 1, maxMs: 600_000, jitter: 0 };
    const queue = "finished-late";
    // No heartbeat comes before the time is over: the outcome alone says what had ended.
    const options = { backoff, timeoutMs: 20, orphanAfterMs: 200_000 };
    const mq = on.client({ queues: [testQueue(queue, options)], pollMs: 600_000, heartbeatMs: 60_000 });
    mq.queue(queue).listen.each(async (message) => {
      if ((message as TestMessage).n === 1) await new Promise(() => undefined);
    });
    await mq.start();
    await Promise.all([mq.queue(queue).publish.many(upTo(3).map((n) => ({ n }))), nextEvent(mq, "retried")]);
    const [batch] = await on.inspector.peek(queue, "delayed");
    assert.deepEqual(batch === undefined ? [] : numbersOf([batch]), [1, 2]);
    assert.equal(batch?.failures, 1);
  },
);
