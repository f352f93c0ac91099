/**
 * W3: no message waits for the poll. The long form, a hundred thousand messages, each to arrive under a second:
 * `POSTRIDER_WAKE_UPS=100000 npm test -- test/wake/lost-wake-up.test.ts` (a quarter of an hour).
 */
import assert from "node:assert/strict";
import test from "node:test";
import { nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf } from "../support/stored.js";
import { publishAroundSleep } from "./publish-around-sleep.js";

const { connectionString, pool } = await testDatabase();
const messages = Number(process.env.POSTRIDER_WAKE_UPS ?? 2_500);
const isLong = messages > 2_500;

test(`W3 ${messages} messages published around falling asleep: none waits for the poll`, {
  timeout: 120_000 + messages * 30,
}, async (t) => {
  // A busy machine takes its time, but nothing like the ten minutes after which the poll comes.
  const lostAfterMs = isLong ? 1_000 : 30_000;
  const came = await publishAroundSleep(t, { connectionString, pool, queue: "w3", messages, nodes: 2, lostAfterMs });
  t.diagnostic(
    `worst ${came.worstMs.toFixed(1)} ms after the commit; ${came.sleeps} sleeps; ${JSON.stringify(came.sources)}`,
  );
  assert.equal(came.lost, undefined);
  assert.equal(came.sources.poll ?? 0, 0);
  // On a slow machine a node is often still awake when the next message comes.
  assert.ok(came.sleeps >= (isLong ? messages / 2 : 100), `only ${came.sleeps} sleeps were met`);
});

test("W3 the same harness finds the fault of a node that sleeps without a last look", {
  timeout: 120_000,
}, async (t) => {
  const naive = { queue: "w3-naive", messages: 5_000, nodes: 1, naive: true, lostAfterMs: 1_000 };
  const came = await publishAroundSleep(t, { connectionString, pool, ...naive });
  t.diagnostic(`message ${came.lost} was lost, after ${came.sleeps} sleeps`);
  assert.notEqual(came.lost, undefined, "nothing was lost: this harness proves nothing");
  assert.equal((await batchesOf(pool, "w3-naive"))[0]?.status, "pending", "nobody has looked for it");
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
