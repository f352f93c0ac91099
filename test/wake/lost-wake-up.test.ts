/** W3: publishes at random moments around falling asleep, with a poll interval that helps nobody. */
import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";

const { connectionString, pool } = await testDatabase();
const messages = 2_500;

test(`W3 ${messages} messages published around falling asleep: none waits for the poll`, {
  timeout: 120_000,
}, async (t) => {
  const queues = [testQueue("w3")];
  const nodes = [1, 2].map(() => testClient(t, { queues, connectionString, pollMs: 600_000 }));
  const publisher = testClient(t, { queues, connectionString });
  const arrived = new Map<number, () => void>();
  const sources = new Map<string, number>();
  for (const mq of nodes) {
    mq.on("woken", ({ source }) => sources.set(source, (sources.get(source) ?? 0) + 1));
    mq.queue("w3").listen((batch) => {
      for (const { n } of batch as TestMessage[]) arrived.get(n)?.();
    });
    await mq.start();
  }
  // The first round of a node looks for no reason but that it starts.
  await eventually(async () => {
    const { rows } = await pool.query(
      `select distinct l.pid from pg_locks l join pg_stat_activity a using (pid)
        where l.locktype = 'advisory' and l.classid = 7302 and a.datname = current_database()`,
    );
    return rows.length === nodes.length && nodes.every((mq) => mq.health().ok);
  });
  // By turns: the library, a plain statement, a transaction that stays open for a while with the row in it.
  const ways: ((n: number) => Promise<unknown>)[] = [
    (n) => publisher.queue("w3").publish({ n }),
    (n) => pool.query("select postrider.publish('w3', format('[{\"n\":%s}]', $1::int))", [n]),
    async (n) => {
      const client = await pool.connect();
      try {
        await client.query("begin");
        await client.query("select postrider.publish('w3', format('[{\"n\":%s}]', $1::int))", [n]);
        await sleep(Math.random() * 8);
        await client.query("commit");
      } finally {
        client.release();
      }
    },
    (n) => publisher.transaction(() => publisher.queue("w3").publish({ n })),
  ];
  let worst = 0;
  for (let n = 0; n < messages; n += 1) {
    const delivery = new Promise<void>((resolve) => arrived.set(n, resolve));
    await ways[n % ways.length]?.(n);
    const committedAt = performance.now();
    const late = sleep(5_000, "late", { ref: false });
    const outcome = await Promise.race([delivery, late]);
    assert.notEqual(outcome, "late", `message ${n}, published in way ${n % ways.length}, was not heard of`);
    worst = Math.max(worst, performance.now() - committedAt);
    arrived.delete(n);
    // The node falls asleep within this time or does not: the next publish meets every step of it.
    if (Math.random() < 0.8) await sleep(Math.random() * 6);
  }
  t.diagnostic(`worst ${worst.toFixed(1)} ms after the commit; ${JSON.stringify(Object.fromEntries(sources))}`);
  assert.equal(sources.get("poll") ?? 0, 0);
});

test("W3, A14 published between LISTEN and the first look: delivered without a poll, fifty times", {
  timeout: 60_000,
}, async (t) => {
  for (let round = 0; round < 50; round += 1) {
    const mq = testClient(t, { queues: [testQueue("a14")], connectionString, pollMs: 600_000 });
    const handled = nextEvent(mq, "handled");
    mq.queue("a14").listen(() => undefined);
    const up = nextEvent(mq, "listenerUp");
    const starting = mq.start();
    await up;
    if (round % 2 === 1) await starting;
    await pool.query(`select postrider.publish('a14', '[{"n":1}]')`);
    await handled;
    await mq.stop();
  }
});

test("W4 no NOTIFY where nobody sleeps, at most one per key and statement, and never more than four bytes", async (t) => {
  const client = await pool.connect();
  const notes: string[] = [];
  client.on("notification", ({ payload = "" }) => notes.push(payload));
  t.after(async () => {
    client.removeAllListeners("notification");
    await client.query("unlisten *; select pg_advisory_unlock_all()");
    client.release();
  });
  await client.query("listen postrider");
  const publish = () =>
    pool.query(
      "insert into postrider.queue_message_batch (queue_name, payload) select 'w4', '[]' from generate_series(1, 100)",
    );
  await publish();
  await client.query("select 1");
  assert.deepEqual(notes, []);
  await client.query("select pg_advisory_lock_shared(7302, k) from generate_series(0, 63) k");
  await publish();
  await eventually(() => notes.length > 0);
  await client.query("select 1");
  assert.equal(notes.length, 1);
  assert.ok(Buffer.byteLength(notes[0] ?? "") <= 4);
});
