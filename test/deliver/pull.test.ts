/** J1: batches in the hands of a caller who settles them. */
import assert from "node:assert/strict";
import { DeadLetter, RetryLater } from "../../src/errors.js";
import type { Runtime } from "../../src/runtime.js";
import { type Cluster, onBothBackends } from "../support/both-backends.js";
import { heard } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";

const db = await testDatabase();
const backoff = { initialMs: 60_000, factor: 1, maxMs: 60_000, jitter: 0 };

onBothBackends(
  db,
  "J1 batches are handed out once, with their messages, and are gone when acknowledged",
  async (_, on) => {
    const queue = testQueue("acked", { maxBatchMessages: 2 });
    const [mq, other] = [on.client({ queues: [queue] }), on.client({ queues: [queue] })];
    await mq.queue("acked").publish.many([{ n: 0 }, { n: 1 }, { n: 2 }], { headers: { h: "v" } });
    const [first, second, ...none] = await mq.queue("acked").pull({ limit: 5 });
    assert.ok(first !== undefined && second !== undefined && none.length === 0);
    assert.deepEqual([first.messages, second.messages], [[{ n: 0 }, { n: 1 }], [{ n: 2 }]]);
    assert.deepEqual([first.ids[1], first.headers[1], first.attempt], [`${first.batchId}.1`, { h: "v" }, 1]);
    assert.deepEqual(await other.queue("acked").pull(), []);
    assert.deepEqual(await mq.queue("acked").size(), { pending: 0, delayed: 0, processing: 2 });
    assert.equal(await first.ack(), true);
    assert.equal(await first.ack(), false, "only once");
    assert.equal(await first.fail(new Error("too late")), false);
    assert.equal(await second.ack(), true);
    assert.deepEqual(await mq.queue("acked").size(), { pending: 0, delayed: 0, processing: 0 });
  },
);

onBothBackends(db, "J1 released batches come again with no attempt spent, at once or later", async (_, on) => {
  const mq = on.client({ queues: [testQueue("released")] });
  await mq.queue("released").publish({ n: 1 });
  const [now] = await mq.queue("released").pull();
  assert.equal(await now?.release(), true);
  const [again] = await mq.queue("released").pull();
  assert.deepEqual([again?.batchId, again?.attempt], [now?.batchId, 1]);
  assert.equal(await again?.release({ delayMs: 3_600_000 }), true);
  assert.deepEqual(await mq.queue("released").size(), { pending: 0, delayed: 1, processing: 0 });
  assert.throws(() => now?.release({ delayMs: -1 }), TypeError);
});

onBothBackends(
  db,
  "J1 a failure counts and waits, the last one dies; RetryLater and DeadLetter as in a handler",
  async (_, on) => {
    const mq = on.client({ queues: [testQueue("failed", { maxAttempts: 2, backoff })] });
    const access = mq.queue("failed");
    const next = async () => (await access.pull())[0] ?? assert.fail("nothing to pull");
    await access.publish({ n: 1 });
    await (await next()).fail(new RetryLater(0));
    const second = await next();
    assert.equal(second.attempt, 1);
    assert.equal(await second.fail(new Error("first")), true);
    assert.deepEqual(await access.size(), { pending: 0, delayed: 1, processing: 0 });
    await access.clear();
    await access.publish({ n: 2 }, { maxAttempts: 1 });
    await (await next()).fail(new Error("the last"));
    await access.publish({ n: 3 });
    await (await next()).fail(new DeadLetter("no use"));
    const letters = await mq.inspect.dead("failed");
    assert.deepEqual(
      letters.map(({ reason, error }) => [reason, error?.split("\n")[0]]),
      [
        ["attempts", "Error: the last"],
        ["rejected", "no use"],
      ],
    );
  },
);

/** Records a much shorter time than the clients' own, once they have recorded theirs. */
async function leaseShortly(on: Cluster, queue: string, staleAfterMs: number, ...clients: readonly Runtime[]) {
  for (const client of clients) assert.deepEqual(await client.queue(queue).pull(), []);
  await on.backend.register([testQueue(queue, { staleAfterMs, orphanAfterMs: staleAfterMs })], "test");
}

onBothBackends(db, "J1, R1 a lease that ran out is recovered, and its late owner changes nothing", async (_, on) => {
  const queues = [testQueue("late")];
  const [mq, other] = [on.client({ queues }), on.client({ queues })];
  await leaseShortly(on, "late", 100, mq, other);
  await mq.queue("late").publish({ n: 1 });
  const [late] = await mq.queue("late").pull();
  assert.ok(late !== undefined);
  let now = late;
  await eventually(async () => {
    now = (await other.queue("late").pull())[0] ?? late;
    return now !== late;
  });
  assert.deepEqual([now.batchId, now.attempt], [late.batchId, 1]);
  assert.equal(await late.ack(), false);
  assert.equal(await late.fail(new Error("late")), false);
  assert.equal(await now.ack(), true);
});

onBothBackends(db, "J1, R2 heartbeats keep what is pulled, also by a client that never started", async (_, on) => {
  const queues = [testQueue("kept")];
  const [mq, other] = [on.client({ queues, heartbeatMs: 50 }), on.client({ queues })];
  await leaseShortly(on, "kept", 1_500, mq, other);
  const lost = heard(mq, "leaseLost");
  await mq.queue("kept").publish({ n: 1 });
  const [batch] = await mq.queue("kept").pull();
  const begun = performance.now();
  // Each look also recovers: it finds nothing as long as the heartbeats go on.
  while (performance.now() - begun < 2_000) {
    assert.deepEqual(await other.queue("kept").pull(), []);
    // In memory nothing else would give the timers their turn.
    await new Promise(setImmediate);
  }
  assert.equal(await batch?.ack(), true);
  assert.deepEqual(lost, []);
});

onBothBackends(db, "J1 a batch of another client or queue is refused, and nothing is acknowledged", async (_, on) => {
  const queues = [testQueue("ours"), testQueue("theirs")];
  const [mq, other] = [on.client({ queues }), on.client({ queues })];
  for (const name of ["ours", "ours", "theirs"]) await mq.queue(name).publish({ n: 1 }, { alone: true });
  const [mine] = await mq.queue("ours").pull();
  const [foreign] = await other.queue("ours").pull();
  const [otherQueue] = await mq.queue("theirs").pull();
  assert.ok(mine !== undefined && foreign !== undefined && otherQueue !== undefined);
  for (const wrong of [foreign, otherQueue, { ...mine }]) {
    await assert.rejects(mq.queue("ours").pull.ack([mine, wrong]), { code: "ERR_FOREIGN_BATCH" });
  }
  assert.deepEqual(await mq.queue("ours").pull.ack([mine]), [mine]);
  assert.equal(await foreign.ack(), true);
  assert.equal(await otherQueue.ack(), true);
});

onBothBackends(db, "J1, D6 what does not fit the schema is never handed out", async (_, on) => {
  const mq = on.client({ queues: [testQueue("checked")] });
  const payload = '[{"n":1},{"n":"two"}]';
  const sizes = { bytes: payload.length, messageCount: 2 };
  await on.backend.publish([{ queue: "checked", version: 1, priority: 100, payload, ...sizes }]);
  const [batch] = await mq.queue("checked").pull();
  assert.deepEqual(batch?.messages as readonly TestMessage[], [{ n: 1 }]);
  assert.equal((await mq.inspect.dead("checked"))[0]?.reason, "schema");
  await batch?.ack();
});

onBothBackends(db, "J1, M4 stop waits for what is out, and gives back what stays out", async (_, on) => {
  const mq = on.client({ queues: [testQueue("stopping")] });
  await mq.queue("stopping").publish({ n: 1 }, { alone: true });
  await mq.queue("stopping").publish({ n: 2 }, { alone: true });
  const [done, kept] = await mq.queue("stopping").pull({ limit: 2 });
  const stopping = mq.stop({ timeoutMs: 300 });
  assert.equal(await done?.ack(), true);
  await stopping;
  assert.equal(kept?.signal.aborted, true);
  await eventually(async () => (await on.inspector.peek("stopping", "pending")).length === 1);
  await assert.rejects(mq.queue("stopping").pull(), { code: "ERR_CLIENT_STOPPED" });
});
