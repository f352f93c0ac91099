/** Stopping a client: what runs ends well or goes back, whatever the database does meanwhile. */
import assert from "node:assert/strict";
import test from "node:test";
import { heard, keptLog, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { startProxy } from "../support/proxy.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";
import { batchesOf, numbersOf, upTo } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
const many = (count: number) => upTo(count).map((n) => ({ n }));

test("M4 stop waits for running handlers, which may still publish and open transactions, and takes no new work", async (t) => {
  const queues = [testQueue("running"), testQueue("follow-up")];
  const mq = testClient(t, { queues, connectionString, pollMs: 600_000 });
  let calls = 0;
  let go: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    go = resolve;
  });
  mq.queue("running").listen(async ([message]) => {
    calls += 1;
    await told;
    await mq.queue("follow-up").publish(message);
    await mq.transaction(() => mq.queue("follow-up").publish(message));
  });
  await mq.start();
  await Promise.all([mq.queue("running").publish({ n: 1 }), nextEvent(mq, "claimed")]);
  await mq.queue("running").publish({ n: 2 }, { alone: true });
  const stopped = mq.stop();
  assert.throws(() => mq.queue("follow-up").listen(() => undefined), { code: "ERR_CLIENT_STOPPED" });
  go();
  await stopped;
  assert.equal(calls, 1);
  assert.deepEqual(numbersOf(await batchesOf(pool, "running")), [2]);
  assert.deepEqual(numbersOf(await batchesOf(pool, "follow-up")), [1, 1]);
});

test("M4 a transaction that runs when stop is called ends, with what it published, its wake-up and its hooks", async (t) => {
  const queues = [testQueue("in-transaction")];
  const mq = testClient(t, { queues, connectionString });
  const errors = heard(mq, "error");
  let stopped: Promise<void> = Promise.resolve();
  let ran = false;
  await mq.transaction(async (tx) => {
    stopped = mq.stop();
    await tx.query("select pg_sleep(0.05)");
    await mq.queue("in-transaction").publish({ n: 1 });
    mq.afterCommit(() => {
      ran = true;
    });
  });
  await stopped;
  assert.deepEqual(numbersOf(await batchesOf(pool, "in-transaction")), [1]);
  assert.deepEqual([ran, errors], [true, []]);
  await assert.rejects(
    mq.transaction(() => undefined),
    { code: "ERR_CLIENT_STOPPED" },
  );
});

test("R6 past its time a handler is aborted, and what it throws then counts nothing", async (t) => {
  const mq = testClient(t, { queues: [testQueue("aborted")], connectionString, pollMs: 600_000 });
  mq.queue("aborted").listen(async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw signal.reason;
  });
  await mq.start();
  await Promise.all([mq.queue("aborted").publish({ n: 1 }), nextEvent(mq, "claimed")]);
  const handled = heard(mq, "handled");
  await mq.stop({ timeoutMs: 20 });
  const [row] = await batchesOf(pool, "aborted");
  assert.deepEqual([row?.status, row?.failures, row?.crashes, row?.owner], ["pending", 0, 0, null]);
  assert.deepEqual(
    handled.map(({ status }) => status),
    ["released"],
  );
});

test("R6 a handler that ignores its signal is let go a second later, with no attempt spent", async (t) => {
  const mq = testClient(t, { queues: [testQueue("ignoring")], connectionString, pollMs: 600_000 });
  let end: () => void = () => undefined;
  mq.queue("ignoring").listen(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  await mq.start();
  await Promise.all([mq.queue("ignoring").publish({ n: 1 }), nextEvent(mq, "claimed")]);
  const lost = heard(mq, "leaseLost");
  const startedAt = performance.now();
  await mq.stop({ timeoutMs: 20 });
  assert.ok(performance.now() - startedAt >= 1_000);
  end();
  const [row] = await batchesOf(pool, "ignoring");
  assert.deepEqual([row?.status, row?.failures, row?.crashes, lost], ["pending", 0, 0, []]);
});

test("R6 .each: done messages are settled, those that were not started or were aborted stay uncounted", async (t) => {
  const mq = testClient(t, { queues: [testQueue("each-stopped")], connectionString, pollMs: 600_000 });
  const seen: number[] = [];
  const third = new Promise<void>((resolve) => {
    mq.queue("each-stopped").listen.each(async (message, { signal }) => {
      const { n } = message as TestMessage;
      seen.push(n);
      if (n < 2) return;
      resolve();
      await new Promise((aborted) => signal.addEventListener("abort", aborted));
      throw signal.reason;
    });
  });
  await mq.start();
  await mq.queue("each-stopped").publish.many(many(6));
  await third;
  await mq.stop({ timeoutMs: 0 });
  assert.deepEqual(seen, [0, 1, 2]);
  const [row] = await batchesOf(pool, "each-stopped");
  assert.deepEqual(numbersOf(row === undefined ? [] : [row]), [2, 3, 4, 5]);
  assert.deepEqual([row?.status, row?.failures, row?.positions], ["pending", 0, [2, 3, 4, 5]]);
});

test("R6 a batch that was claimed while stop began goes back untouched", async (t) => {
  const mq = testClient(t, { queues: [testQueue("late-claim")], connectionString, pollMs: 600_000 });
  let calls = 0;
  mq.queue("late-claim").listen(() => {
    calls += 1;
  });
  await mq.start();
  const holder = await pool.connect();
  let stopped: Promise<void>;
  try {
    await holder.query("begin; lock table postrider.queue_slot in access exclusive mode");
    await pool.query(`select postrider.publish('late-claim', '[{"n":1}]')`);
    await eventually(async () => {
      const { rowCount } = await pool.query(
        `select from pg_stat_activity
          where datname = current_database() and query like '%.poll(%' and wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    stopped = mq.stop();
    await holder.query("commit");
  } finally {
    holder.release();
  }
  await stopped;
  const [row] = await batchesOf(pool, "late-claim");
  assert.deepEqual([calls, row?.status, row?.failures, row?.crashes], [0, "pending", 0, 0]);
});

for (const fault of ["close", "drop"] as const) {
  test(`A4 stop ends in bounded time while the database is away (${fault}), with a handler running`, {
    timeout: 60_000,
  }, async (t) => {
    const queue = `away-${fault}`;
    const proxy = await startProxy(connectionString);
    t.after(() => proxy.stop());
    const queues = [testQueue(queue)];
    const mq = testClient(t, { queues, connectionString: proxy.connectionString, logger: keptLog() });
    let end: () => void = () => undefined;
    mq.queue(queue).listen(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    await mq.start();
    await Promise.all([mq.queue(queue).publish({ n: 1 }), nextEvent(mq, "claimed")]);
    if (fault === "close") await proxy.close();
    if (fault === "close") proxy.cut();
    else proxy.drop();
    mq.queue(queue)
      .publish({ n: 2 })
      .catch(() => undefined);
    end();
    await mq.stop({ timeoutMs: 500 });
  });
}

test("M4 stop while starting, with and without a database", async (t) => {
  const there = testClient(t, { queues: [testQueue("starting")], connectionString });
  there.queue("starting").listen(() => undefined);
  const starting = there.start();
  await there.stop();
  await starting;
  const nowhere = testClient(t, { queues: [], connectionString: "postgres://nobody@127.0.0.1:1/nowhere" });
  const waiting = nowhere.start();
  await nextEvent(nowhere, "error");
  await nowhere.stop();
  await waiting;
});

test("M4 stop twice, without start, and with a listener that was never started; afterwards everything is refused", async (t) => {
  const mq = testClient(t, { queues: [testQueue("unstarted")], connectionString });
  mq.queue("unstarted").listen(() => undefined);
  await Promise.all([mq.stop(), mq.stop()]);
  await mq.stop();
  const stopped = { code: "ERR_CLIENT_STOPPED" };
  await assert.rejects(mq.start(), stopped);
  await assert.rejects(mq.queue("unstarted").publish({ n: 1 }), stopped);
  await assert.rejects(
    mq.transaction(() => undefined),
    stopped,
  );
  assert.throws(() => mq.queue("unstarted").listen(() => undefined), stopped);
  await testClient(t, { queues: [], connectionString }).stop();
});
