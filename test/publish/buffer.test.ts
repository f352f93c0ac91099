/** The publish buffer on a real server: order, sharing of commits, failures, bounds. */
import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { heard, keptLog, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { byApplication, startProxy } from "../support/proxy.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, numbersOf, upTo } from "../support/stored.js";

const database = await testDatabase();
const { connectionString, pool } = database;

const numbersIn = async (queue: string) => numbersOf(await batchesOf(pool, queue));

test("P5 messages published one after another without waiting are stored in that order", async (t) => {
  const mq = testClient(t, { queues: [testQueue("order", { maxBatchMessages: 7 })], connectionString });
  await Promise.all(upTo(500).map((n) => mq.queue("order").publish({ n })));
  assert.deepEqual(await numbersIn("order"), upTo(500));
});

test("P6 a lone message is written at once, and what arrives during a write leaves together with the next", async (t) => {
  const mq = testClient(t, { queues: [testQueue("adaptive")], connectionString });
  await mq.queue("adaptive").publish({ n: 0 });
  const first = mq.queue("adaptive").publish({ n: 1 });
  await new Promise((resolve) => setImmediate(resolve));
  const later = upTo(63).map((n) => mq.queue("adaptive").publish({ n: 2 + n }));
  await Promise.all([first, ...later]);
  assert.deepEqual(
    (await batchesOf(pool, "adaptive")).map(({ message_count }) => message_count),
    [1, 1, 63],
  );
  const ids = new Set((await Promise.all(later)).map(({ batchId }) => batchId));
  assert.equal(ids.size, 1, "messages of one row share its id");
});

test("P6 a burst leaves in two halves, one's write covering the other's work, and P5 holds across them", async (t) => {
  const mq = testClient(t, { queues: [testQueue("burst")], connectionString });
  let n = 0;
  const caller = async () => {
    for (let left = 10; left > 0; left -= 1) await mq.queue("burst").publish({ n: n++ });
  };
  await Promise.all(upTo(64).map(caller));
  const [first, second] = await batchesOf(pool, "burst");
  assert.deepEqual([first?.message_count, second?.message_count], [32, 32]);
  assert.deepEqual(await numbersIn("burst"), upTo(640));
});

test("preparedStatements names the library's own calls; without it none is named", async (t) => {
  const named = async (preparedStatements: boolean) => {
    const one = new pg.Pool({ connectionString, max: 1 });
    t.after(() => one.end());
    const queues = [testQueue("named")];
    const mq = testClient(t, { queues, pool: one, preparedStatements });
    for (const n of upTo(3)) await mq.queue("named").publish({ n });
    const { rows } = await one.query("select name, generic_plans + custom_plans as uses from pg_prepared_statements");
    return rows;
  };
  assert.deepEqual(await named(false), []);
  assert.deepEqual(await named(true), [{ name: "postrider_0", uses: "3" }]);
});

test("P7 the window moves with each message, is cut by maxMs, and a full batch is due at once", async (t) => {
  const queues = [
    testQueue("window", { buffer: { windowMs: 120, maxMs: 10_000 } }),
    testQueue("window-held", { maxBatchMessages: 5, buffer: { windowMs: 600_000, maxMs: 0 } }),
    testQueue("window-cut", { buffer: { windowMs: 600_000, maxMs: 150 } }),
  ];
  const mq = testClient(t, { queues, connectionString });
  const startedAt = performance.now();
  await Promise.all([0, 1].map((n) => mq.queue("window").publish({ n })));
  assert.ok(performance.now() - startedAt >= 119, "not before the window has passed");
  assert.equal((await batchesOf(pool, "window")).length, 1);
  await mq.queue("window-cut").publish({ n: 0 });
  const first = upTo(4).map((n) => mq.queue("window-held").publish({ n }));
  assert.deepEqual(await numbersIn("window-held"), [], "nothing is written on the publisher's own call");
  // Its window lasts ten minutes: only that it is full can end it.
  await Promise.all([...first, mq.queue("window-held").publish({ n: 4 })]);
  assert.equal((await batchesOf(pool, "window-held")).length, 1);
});

test("P7 a batch that gets full in the very turn in which a write ends is written all the same", async (t) => {
  const queues = [testQueue("window-gap", { maxBatchMessages: 2, buffer: { windowMs: 60_000, maxMs: 0 } })];
  const mq = testClient(t, { queues, connectionString });
  const two = () => [0, 1].map((n) => mq.queue("window-gap").publish({ n }));
  // Each step of the microtask queue after the answer is one chance to fall into the gap.
  for (let steps = 0; steps < 12; steps += 1) {
    await two()[1];
    for (let step = 0; step < steps; step += 1) await undefined;
    const both = Promise.all(two());
    const timeout = new Promise((_, reject) =>
      setTimeout(reject, 5_000, new Error(`stuck after ${steps} steps`)).unref(),
    );
    await Promise.race([both, timeout]);
  }
});

test("P8, P3 a database away for a while: nothing is lost, order is kept, and only sent writes count as unknown", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const mq = testClient(t, { queues: [testQueue("outage")], connectionString: proxy.connectionString });
  const unknown = heard(mq, "publishUnknown");
  await mq.queue("outage").publish({ n: 0 });
  // The pool has noticed: what is published from here on finds no connection to go out on.
  const noticed = nextEvent(mq, "error", ({ part }) => part === "pool");
  await proxy.close();
  proxy.cut();
  await noticed;
  const early = upTo(50).map((n) => mq.queue("outage").publish({ n: n + 1 }));
  for (let failures = 0; failures < 3; failures += 1) await nextEvent(mq, "flushFailed");
  const late = upTo(50).map((n) => mq.queue("outage").publish({ n: n + 51 }));
  await proxy.pass();
  await Promise.all([...early, ...late]);
  assert.deepEqual(await numbersIn("outage"), upTo(101));
  assert.deepEqual(unknown, [], "a connection that was never had has carried nothing out");
});

test("P3 a write whose connection died unanswered is repeated, and counted once", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("unanswered"), testQueue("warm")];
  const mq = testClient(t, { queues, connectionString: proxy.connectionString, poolSize: 1 });
  const unknown = heard(mq, "publishUnknown");
  await mq.queue("warm").publish({ n: 0 });
  const [link] = proxy.connections();
  assert.ok(link);
  const before = link.received.client;
  const holder = await pool.connect();
  try {
    // The insert has arrived and waits for the lock when its connection is cut.
    await holder.query("begin; lock table postrider.queue_message_batch in share mode");
    const publishing = mq.queue("unanswered").publish({ n: 1 });
    await eventually(() => link.received.client > before);
    const failed = nextEvent(mq, "flushFailed");
    proxy.cut();
    await failed;
    await holder.query("commit");
    await publishing;
  } finally {
    holder.release();
  }
  assert.deepEqual(unknown, [{ queue: "unanswered", messages: 1 }]);
  const numbers = await numbersIn("unanswered");
  assert.ok(numbers.length >= 1 && numbers.every((n) => n === 1), "stored, perhaps twice, never lost");
});

test("P8 a lasting error is pinned on the guilty publish; the others are stored, in order", async (t) => {
  await pool.query(
    `alter table postrider.queue_message_batch add constraint no_poison
      check (queue_name <> 'guilty' or payload not like '%poison%')`,
  );
  t.after(async () => void (await pool.query("alter table postrider.queue_message_batch drop constraint no_poison")));
  const mq = testClient(t, { queues: [testQueue("guilty")], connectionString });
  const settled = await Promise.allSettled(
    upTo(40).map((n) => mq.queue("guilty").publish(n === 17 || n === 30 ? { n, text: "poison" } : { n })),
  );
  assert.deepEqual(
    settled.flatMap(({ status }, n) => (status === "rejected" ? [n] : [])),
    [17, 30],
  );
  assert.deepEqual(
    await numbersIn("guilty"),
    upTo(40).filter((n) => n !== 17 && n !== 30),
  );
});

test("P8 after maxAttempts the messages are dropped: rejected, counted, said once, and quiet for whoever did not wait", async (t) => {
  const queues = [testQueue("dropped", { buffer: { windowMs: 1, maxMs: 0, maxAttempts: 2 } })];
  const logger = keptLog();
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  t.after(async () => void process.off("unhandledRejection", note));
  const mq = testClient(t, { queues, connectionString: "postgres://nobody@127.0.0.1:1/nowhere", logger });
  const dropped = nextEvent(mq, "bufferDropped");
  void mq.queue("dropped").publish({ n: 0 });
  void mq.queue("dropped").publish.many([{ n: 1 }, { n: 2 }]);
  void mq.queue("dropped").publish.collect((put) => put({ n: 3 }));
  const awaited = mq.queue("dropped").publish({ n: 4 });
  await assert.rejects(awaited, { code: "ERR_BUFFER_DROPPED" });
  assert.equal((await dropped).messages, 5);
  // unhandledRejection is raised after the microtasks of the turn.
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(unhandled, []);
  assert.equal(logger.lines.filter(({ message }) => message.includes("were dropped")).length, 1);
  assert.match(await mq.metrics(), /postrider_publish_buffer_depth\{queue="dropped"\} 0/);
});

test("P8 the tries of one message are not counted against the next", async (t) => {
  const queues = [testQueue("own-tries", { buffer: { windowMs: 1, maxMs: 0, maxAttempts: 3 } })];
  const mq = testClient(t, { queues, connectionString: "postgres://nobody@127.0.0.1:1/nowhere" });
  const withdrawn = new AbortController();
  const first = mq.queue("own-tries").publish({ n: 0 }, { signal: withdrawn.signal });
  first.catch(() => undefined);
  await nextEvent(mq, "flushFailed");
  await nextEvent(mq, "flushFailed");
  // The event is told while the entry is on its way back into the buffer.
  await new Promise((resolve) => setImmediate(resolve));
  withdrawn.abort();
  await assert.rejects(first, { code: "ERR_PUBLISH_TIMEOUT" });
  const failures = heard(mq, "flushFailed");
  await assert.rejects(mq.queue("own-tries").publish({ n: 1 }), { code: "ERR_BUFFER_DROPPED" });
  assert.equal(failures.length, 3);
});

test("P9 when the buffer is full publishers wait, and what waits can be withdrawn", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("full")];
  const mq = testClient(t, { queues, connectionString: proxy.connectionString, bufferMaxMessages: 10 });
  await mq.queue("full").publish({ n: -1 });
  proxy.stall();
  const inside = upTo(10).map((n) => mq.queue("full").publish({ n }));
  const waiting = upTo(10).map((n) => mq.queue("full").publish({ n: 10 + n }));
  const impatient = mq.queue("full").publish({ n: 99 }, { timeoutMs: 50 });
  const aborted = mq.queue("full").publish({ n: 98 }, { signal: AbortSignal.abort() });
  const timedOut = { code: "ERR_PUBLISH_TIMEOUT" };
  await Promise.all([assert.rejects(impatient, timedOut), assert.rejects(aborted, timedOut)]);
  assert.ok(mq.health().bufferDepth <= 10, `the buffer holds ${mq.health().bufferDepth}`);
  await proxy.pass();
  await Promise.all([...inside, ...waiting]);
  assert.deepEqual(await numbersIn("full"), [-1, ...upTo(20)]);
});

test("P8 a network that swallows a write does not keep it for ever", { timeout: 60_000 }, async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("swallowed")];
  const mq = testClient(t, { queues, connectionString: proxy.connectionString });
  await mq.queue("swallowed").publish({ n: 0 });
  const old = new Set(proxy.connections().map(({ number }) => number));
  proxy.drop(({ number }) => old.has(number));
  await mq.queue("swallowed").publish({ n: 1 });
  assert.deepEqual(await numbersIn("swallowed"), [0, 1]);
});

test("P13 stop drains every buffer, also writes that have none, before anything closes", async (t) => {
  const queues = [
    testQueue("drained", { buffer: { windowMs: 3_600_000, maxMs: 0 } }),
    testQueue("unbuffered", { buffer: false }),
  ];
  const mq = testClient(t, { queues, connectionString, poolSize: 1 });
  const all = [
    ...upTo(20).map((n) => mq.queue("drained").publish({ n })),
    ...upTo(20).map((n) => mq.queue("unbuffered").publish({ n })),
  ];
  await mq.stop();
  await Promise.all(all);
  assert.deepEqual(await numbersIn("drained"), upTo(20));
  assert.deepEqual(
    [...(await numbersIn("unbuffered"))].sort((a, b) => a - b),
    upTo(20),
  );
  await assert.rejects(mq.queue("drained").publish({ n: 0 }), { code: "ERR_CLIENT_STOPPED" });
});

test("P13 flush writes what the window would still hold, and waits for the wake-ups", async (t) => {
  const queues = [testQueue("flushed", { buffer: { windowMs: 3_600_000, maxMs: 0 } })];
  const mq = testClient(t, { queues, connectionString });
  const publishing = mq.queue("flushed").publish({ n: 0 });
  await mq.flush();
  await publishing;
  assert.deepEqual(await numbersIn("flushed"), [0]);
});

test("P13 stop gives up what a database that is away cannot take, in bounded time", { timeout: 60_000 }, async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("given-up", { buffer: { windowMs: 1, maxMs: 0, maxAttempts: 0 } })];
  const mq = testClient(t, { queues, connectionString: proxy.connectionString });
  await mq.queue("given-up").publish({ n: 0 });
  proxy.drop(byApplication("postrider"));
  const lost = mq.queue("given-up").publish({ n: 1 });
  const rejected = assert.rejects(lost, { code: "ERR_BUFFER_DROPPED" });
  await mq.stop({ timeoutMs: 300 });
  await rejected;
});
