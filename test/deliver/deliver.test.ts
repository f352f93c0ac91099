/** What becomes of a batch: every outcome, every kind of handler. */
import assert from "node:assert/strict";
import test from "node:test";
import { DeadLetter, RetryLater } from "../../src/errors.js";
import type { Runtime } from "../../src/runtime.js";
import { heard, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";
import { batchesOf, deadOf, numbersOf, upTo } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
const quick = { backoff: { initialMs: 1, maxMs: 1 } };
const longWait = { backoff: { initialMs: 3_600_000 } };
const many = (count: number) => upTo(count).map((n) => ({ n }));

/** A started client with these queues. Its polling never helps: everything must be found by being told. */
async function node(t: test.TestContext, ...queues: ReturnType<typeof testQueue>[]): Promise<Runtime> {
  const mq = testClient(t, { queues, connectionString, pollMs: 600_000 });
  await mq.start();
  return mq;
}

const isGone = (queue: string) => eventually(async () => (await batchesOf(pool, queue)).length === 0);

test("D1 a call gets what was stored together, with ids, headers and times; success deletes it (D2)", async (t) => {
  const mq = await node(t, testQueue("d1"));
  const calls: unknown[] = [];
  mq.queue("d1").listen((messages, context) => {
    calls.push({ messages, ids: context.ids, headers: context.headers, attempt: context.attempt });
    assert.ok(context.publishedAt.every((at) => Math.abs(at.getTime() - Date.now()) < 60_000));
  });
  const { batchIds } = await mq.queue("d1").publish.many(many(2), { headers: { trace: "x" } });
  await isGone("d1");
  const [id] = batchIds;
  const headers = [{ trace: "x" }, { trace: "x" }];
  assert.deepEqual(calls, [{ messages: many(2), ids: [`${id}.0`, `${id}.1`], headers, attempt: 1 }]);
});

test("D1 by priority, then oldest first", async (t) => {
  const mq = testClient(t, { queues: [testQueue("d1-order")], connectionString, pollMs: 600_000 });
  for (const [n, priority] of [200, 100, 50, 100].entries()) await mq.queue("d1-order").publish({ n }, { priority });
  const order: number[] = [];
  mq.queue("d1-order").listen((messages) => void order.push(...(messages as TestMessage[]).map(({ n }) => n)));
  await mq.start();
  await isGone("d1-order");
  assert.deepEqual(order, [2, 1, 3, 0]);
});

test("D2, D4 a throw fails the whole batch, which waits and comes again as it was", async (t) => {
  const mq = await node(t, testQueue("d2", quick));
  const attempts: unknown[] = [];
  mq.queue("d2").listen((messages, { attempt, ids }) => {
    attempts.push([attempt, messages, ids]);
    if (attempt < 3) throw new Error("not yet");
  });
  const { batchIds } = await mq.queue("d2").publish.many(many(2));
  await isGone("d2");
  const ids = [`${batchIds[0]}.0`, `${batchIds[0]}.1`];
  assert.deepEqual(
    attempts,
    [1, 2, 3].map((attempt) => [attempt, many(2), ids]),
  );
});

test("D4 a single message at maxAttempts dies with text and stack, in neither or one place, never in both", async (t) => {
  const mq = await node(t, testQueue("d4", { ...quick, maxAttempts: 2 }));
  mq.queue("d4").listen(() => {
    throw new Error("always", { cause: new Error("deeper") });
  });
  const dead = nextEvent(mq, "dead");
  const { batchId } = await mq.queue("d4").publish({ n: 1 });
  assert.equal((await dead).reason, "attempts");
  assert.deepEqual(await batchesOf(pool, "d4"), []);
  const [row] = await deadOf(pool, "d4");
  assert.equal(row?.batch_id, batchId);
  assert.equal(row?.failures, 2);
  assert.ok(row?.owner);
  assert.match(row?.error ?? "", /always[\s\S]*deliver\.test\.ts[\s\S]*caused by: Error: deeper/);
});

test("D4 several messages with no attempt left are divided: one bad message does not bury the others", async (t) => {
  const mq = await node(t, testQueue("d4-divide", { ...quick, maxAttempts: 2, concurrency: 3 }));
  const delivered = new Map<string, number>();
  mq.queue("d4-divide").listen((messages, { ids }) => {
    if ((messages as TestMessage[]).some(({ n }) => n === 2)) throw new Error("the bad one");
    for (const [index, id] of ids.entries()) delivered.set(id, (messages[index] as TestMessage).n);
  });
  const { batchIds } = await mq.queue("d4-divide").publish.many(many(5));
  await isGone("d4-divide");
  assert.deepEqual(
    new Map([...delivered].sort()),
    new Map([0, 1, 3, 4].map((n) => [`${batchIds[0]}.${n}`, n])),
    "D13 ids survive the division",
  );
  const [row, ...others] = await deadOf(pool, "d4-divide");
  assert.deepEqual(others, []);
  assert.deepEqual([row?.positions, numbersOf(row === undefined ? [] : [row])], [[2], [2]]);
});

test("anything may be thrown: a value without a text, a circle of causes, nothing at all", async (t) => {
  const circle = new Error("circle");
  circle.cause = circle;
  const strange = [undefined, null, Object.create(null), Symbol("s"), circle, { stack: 1 }, "text"];
  const mq = await node(t, testQueue("strange", { maxAttempts: 1, concurrency: 10 }));
  mq.queue("strange").listen(([message]) => {
    throw strange[(message as TestMessage).n];
  });
  for (const n of strange.keys()) await mq.queue("strange").publish({ n }, { alone: true });
  await isGone("strange");
  assert.equal((await deadOf(pool, "strange")).length, strange.length);
});

test("D3 a batch handler may name what failed; the rest leaves the row, which keeps id, place and headers", async (t) => {
  const mq = await node(t, testQueue("d3", longWait));
  mq.queue("d3").listen(() => ({ failed: [1, 3] }));
  const headers = { trace: "kept" };
  const [{ batchIds }] = await Promise.all([
    mq.queue("d3").publish.many(many(5), { headers }),
    nextEvent(mq, "retried"),
  ]);
  const [row] = await batchesOf(pool, "d3");
  assert.equal(row?.id, batchIds[0]);
  assert.deepEqual(numbersOf(row === undefined ? [] : [row]), [1, 3]);
  assert.deepEqual([row?.positions, row?.failures, row?.status], [[1, 3], 1, "delayed"]);
  assert.deepEqual(JSON.parse(row?.meta ?? ""), [headers, headers]);
});

test("D3, D5 .each: what fails stays, what rejects dies, what postpones stays uncounted, the rest is done", async (t) => {
  const mq = await node(t, testQueue("each", { ...quick, concurrency: 2 }));
  const seen: [number, number, string][] = [];
  let running = 0;
  let most = 0;
  mq.queue("each").listen.each(async (message, { attempt, id }) => {
    const { n } = message as TestMessage;
    seen.push([n, attempt, id]);
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 2));
    running -= 1;
    if (attempt > 1) return;
    if (n === 1) throw new Error("once");
    if (n === 2) throw new DeadLetter("not this one");
    if (n === 3) throw new RetryLater(1);
  });
  const { batchIds } = await mq.queue("each").publish.many(many(5));
  await isGone("each");
  const id = (n: number) => `${batchIds[0]}.${n}`;
  assert.deepEqual(
    seen.slice(0, 5).map(([n]) => n),
    upTo(5),
    "in order of start",
  );
  assert.deepEqual(
    new Set(seen.slice(5).map(String)),
    new Set(
      [
        [1, 2, id(1)],
        [3, 2, id(3)],
      ].map(String),
    ),
  );
  assert.equal(most, 2);
  const [row, ...more] = await deadOf(pool, "each");
  assert.deepEqual([row?.reason, row?.error, row?.positions, more.length], ["rejected", "not this one", [2], 0]);
});

test("D5 .each that only postpones counts nothing", async (t) => {
  const mq = await node(t, testQueue("each-postponed"));
  let turns = 0;
  mq.queue("each-postponed").listen.each(() => {
    turns += 1;
    if (turns <= 2) throw new RetryLater(1);
  });
  const errors = heard(mq, "handlerFailed");
  await mq.queue("each-postponed").publish.many(many(2));
  await isGone("each-postponed");
  assert.deepEqual([turns, errors.length], [4, 0]);
});

test("D5 RetryLater postpones without a count, retryAfter sets the wait of a failure, DeadLetter gives up at once", async (t) => {
  const mq = await node(t, testQueue("d5", longWait));
  const attempts: number[] = [];
  mq.queue("d5").listen((_, { attempt, retryAfter }) => {
    attempts.push(attempt);
    if (attempts.length === 1) throw new RetryLater(5);
    if (attempts.length === 2) {
      retryAfter(5);
      throw new Error("counted");
    }
    throw new DeadLetter("enough");
  });
  const postponed = heard(mq, "postponed");
  const failures = heard(mq, "handlerFailed");
  const [{ reason, error }] = await Promise.all([nextEvent(mq, "dead"), mq.queue("d5").publish({ n: 1 })]);
  assert.deepEqual([attempts, reason, error], [[1, 1, 2], "rejected", "enough"]);
  assert.deepEqual([postponed.length, failures.length], [1, 1]);
  assert.match(await mq.metrics(), /postrider_batches_handled_total\{queue="d5",status="postponed"\} 1/);
});

test("D5 a wait that is no number of milliseconds is a failure with that text, and does not hold the batch", async (t) => {
  const mq = await node(t, testQueue("d5-nan", { maxAttempts: 1, concurrency: 3 }));
  mq.queue("d5-nan").listen(([message], { retryAfter }) => {
    const { n } = message as TestMessage;
    if (n === 0) throw new RetryLater(Number.NaN);
    if (n === 1) throw new RetryLater(Number.POSITIVE_INFINITY);
    retryAfter(-1);
  });
  for (const n of upTo(3)) await mq.queue("d5-nan").publish({ n }, { alone: true });
  await isGone("d5-nan");
  for (const { error } of await deadOf(pool, "d5-nan")) assert.match(error, /takes milliseconds from 0 to/);
});

test("D6 what does not fit the schema is buried at once and the rest delivered, ids unchanged", async (t) => {
  const mq = await node(t, testQueue("d6", longWait));
  const calls: unknown[] = [];
  mq.queue("d6").listen((messages, { ids }) => {
    calls.push([messages, ids]);
    throw new Error("so that the row stays");
  });
  const retried = nextEvent(mq, "retried");
  const { rows } = await pool.query(
    `select postrider.publish('d6', '[{"n":0},{"n":"1"},{"n":2,"later":true},7]') as id`,
  );
  await retried;
  const id = rows[0].id as string;
  assert.deepEqual(calls, [
    [
      [{ n: 0 }, { n: 2, later: true }],
      [`${id}.0`, `${id}.2`],
    ],
  ]);
  assert.deepEqual(
    (await deadOf(pool, "d6")).map(({ reason, positions, payload }) => [reason, positions, JSON.parse(payload)]),
    [
      ["schema", [1], [{ n: "1" }]],
      ["schema", [3], [7]],
    ],
  );
  const [row] = await batchesOf(pool, "d6");
  assert.deepEqual([row?.positions, row?.failures], [[0, 2], 1]);
});

test("D6 a payload that is no JSON array dies whole, and a batch of nothing but invalid messages leaves no row", async (t) => {
  const mq = await node(t, testQueue("d6-decode"));
  const calls = heard(mq, "handled");
  mq.queue("d6-decode").listen(() => undefined);
  for (const payload of ["no JSON", '{"n":1}', '[{"n":"x"}]', "[]"]) {
    await pool.query("insert into postrider.queue_message_batch (queue_name, payload) values ('d6-decode', $1)", [
      payload,
    ]);
  }
  await isGone("d6-decode");
  assert.deepEqual((await deadOf(pool, "d6-decode")).map(({ reason }) => reason).sort(), [
    "decode",
    "decode",
    "schema",
  ]);
  assert.ok(calls.length <= 1);
});

test("D1, D2 a larger batch is sliced; a throw in one slice keeps the others, and DeadLetter buries only its own", async (t) => {
  const mq = await node(t, testQueue("sliced", { ...longWait, maxBatchMessages: 2 }));
  const slices: number[][] = [];
  mq.queue("sliced").listen((messages, { ids }) => {
    const numbers = (messages as TestMessage[]).map(({ n }) => n);
    assert.deepEqual(
      ids.map((id) => Number(id.split(".")[1])),
      numbers,
    );
    slices.push(numbers);
    if (numbers.includes(2)) throw new Error("the second slice");
    if (numbers.includes(4)) throw new DeadLetter("the third");
  });
  const payload = JSON.stringify(many(8));
  const retried = nextEvent(mq, "retried");
  await pool.query(
    "insert into postrider.queue_message_batch (queue_name, payload, message_count) values ('sliced', $1, 8)",
    [payload],
  );
  await retried;
  assert.deepEqual(slices, [
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
  ]);
  assert.deepEqual(numbersOf(await batchesOf(pool, "sliced")), [2, 3]);
  assert.deepEqual(numbersOf(await deadOf(pool, "sliced")), [4, 5]);
});

test("D4 what fails its last time in a slice, with others, gets its last attempt alone", async (t) => {
  const backoff = { initialMs: 1, factor: 1, maxMs: 1, jitter: 0 };
  const mq = await node(t, testQueue("sliced-last", { backoff, maxAttempts: 2, maxBatchMessages: 2 }));
  const calls: string[] = [];
  mq.queue("sliced-last").listen((messages) => {
    const numbers = (messages as TestMessage[]).map(({ n }) => n);
    calls.push(numbers.join());
    if (numbers.includes(4)) return { failed: [numbers.indexOf(4)] };
    if (numbers.includes(2)) throw new Error("two is bad, three is not");
    return undefined;
  });
  await pool.query(
    "insert into postrider.queue_message_batch (queue_name, payload, message_count) values ('sliced-last', $1, 5)",
    [JSON.stringify(many(5))],
  );
  await isGone("sliced-last");
  assert.deepEqual(calls.slice(0, 5), ["0,1", "2,3", "4", "2,3", "4"]);
  assert.deepEqual(calls.slice(5).sort(), ["2", "3"]);
  assert.deepEqual(numbersOf(await deadOf(pool, "sliced-last")).toSorted(), [2, 4]);
});

test("D7 at most `concurrency` calls at once, and a freed slot looks for work at once", async (t) => {
  const mq = await node(t, testQueue("d7", { concurrency: 3, maxBatchMessages: 1 }));
  let running = 0;
  let most = 0;
  mq.queue("d7").listen(async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
  });
  await Promise.all(upTo(30).map((n) => mq.queue("d7").publish({ n }, { alone: true })));
  await isGone("d7");
  assert.equal(most, 3);
  assert.throws(() => mq.queue("d7").listen(() => undefined), { code: "ERR_LISTENER_EXISTS" });
});

test("D11 timeoutMs aborts the signal, and the failure counts when the handler ends", async (t) => {
  const mq = await node(t, testQueue("d11", { ...longWait, timeoutMs: 30 }));
  mq.queue("d11").listen(async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return "it gave up in time, and says nothing of it";
  });
  await Promise.all([mq.queue("d11").publish({ n: 1 }), nextEvent(mq, "retried")]);
  const [row] = await batchesOf(pool, "d11");
  assert.equal(row?.failures, 1);
  assert.match(row?.last_error ?? "", /longer than timeoutMs \(30\)/);
});

test("D11 a handler that does not end counts as failed 5 s later, and keeps its slot", {
  timeout: 30_000,
}, async (t) => {
  const mq = await node(t, testQueue("overdue", { ...quick, timeoutMs: 20 }));
  let end: () => void = () => undefined;
  let calls = 0;
  mq.queue("overdue").listen(() => {
    calls += 1;
    if (calls > 1) return undefined;
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  const startedAt = performance.now();
  await Promise.all([mq.queue("overdue").publish({ n: 1 }), nextEvent(mq, "retried")]);
  assert.ok(performance.now() - startedAt >= 5_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(calls, 1, "the slot is taken");
  assert.match(await mq.metrics(), /^postrider_handlers_overdue\{queue="overdue"\} 1$/m);
  end();
  await isGone("overdue");
  assert.match(await mq.metrics(), /^postrider_handlers_overdue\{queue="overdue"\} 0$/m);
});

test("D11 .each past its time: what is done is done, only the rest comes again", async (t) => {
  const mq = await node(t, testQueue("each-late", { ...quick, timeoutMs: 40 }));
  const seen: number[] = [];
  mq.queue("each-late").listen.each(async (message, { attempt, signal }) => {
    const { n } = message as TestMessage;
    seen.push(n);
    if (n !== 2 || attempt > 1) return;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw signal.reason;
  });
  await mq.queue("each-late").publish.many(many(5));
  await isGone("each-late");
  assert.deepEqual(seen, [0, 1, 2, 2, 3, 4]);
});

test("D12 lastActivity is the last publish or handler end on this node", async (t) => {
  const mq = await node(t, testQueue("d12"));
  assert.equal(mq.lastActivity("d12"), undefined);
  const before = Date.now();
  await mq.queue("d12").publish({ n: 1 });
  assert.ok((mq.lastActivity("d12")?.getTime() ?? 0) >= before);
});

test("P14, W3 a delay is kept without a poll, also one that another node set behind a busy one", async (t) => {
  const mq = await node(t, testQueue("due"));
  const other = testClient(t, { queues: [testQueue("due")], connectionString });
  const at: number[] = [];
  mq.queue("due").listen(async ([message]) => {
    at.push(performance.now());
    // Busy while the other node publishes: no SLEEP is held, nobody is notified.
    if ((message as TestMessage).n === 0) await other.queue("due").publish({ n: 1 }, { delayMs: 300 });
  });
  await mq.queue("due").publish({ n: 0 });
  await eventually(() => at.length === 2);
  const waited = (at[1] ?? 0) - (at[0] ?? 0);
  // The poll would come after eight minutes.
  assert.ok(waited >= 300, `waited ${waited} ms`);
});
