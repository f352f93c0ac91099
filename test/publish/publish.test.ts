/** What publishing stores, and what it refuses before any SQL. */
import assert from "node:assert/strict";
import test from "node:test";
import { heard, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, numbersOf, upTo } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
const stored = async (queue: string) => await batchesOf(pool, queue);

test("P1 a message is encoded and checked during the call; later changes to the object change nothing", async (t) => {
  const mq = testClient(t, { queues: [testQueue("snapshot")], connectionString });
  const message = { n: 1, text: "as published" };
  const publishing = mq.queue("snapshot").publish(message);
  message.text = "changed later";
  await publishing;
  assert.deepEqual(JSON.parse((await stored("snapshot"))[0]?.payload ?? ""), [{ n: 1, text: "as published" }]);
});

test("P1 a bad message names pointer, expected and found, and nothing of its call is stored", async (t) => {
  const mq = testClient(t, { queues: [testQueue("strict")], connectionString });
  const { publish } = mq.queue("strict");
  await assert.rejects(publish({ n: "one" }), ({ code, message, details }) => {
    assert.equal(code, "ERR_MESSAGE_INVALID");
    assert.match(message, /\/n.*integer.*"one"/s);
    return details.pointer === "/n";
  });
  await assert.rejects(publish.many([{ n: 1 }, { n: 2, unknown: true }]), { code: "ERR_MESSAGE_INVALID" });
  await assert.rejects(
    publish.collect((put) => {
      put({ n: 1 });
      put({});
    }),
    { code: "ERR_MESSAGE_INVALID" },
  );
  assert.deepEqual(await stored("strict"), []);
});

test("P2 what JSON cannot hold is refused with its path; NUL and lone surrogates come back unchanged", async (t) => {
  const mq = testClient(t, { queues: [testQueue("odd")], connectionString });
  const cycle: { n: number; self?: unknown } = { n: 1 };
  cycle.self = cycle;
  for (const message of [undefined, () => 1, { n: 1n }, { n: Symbol("n") }, cycle]) {
    await assert.rejects(mq.queue("odd").publish(message), { code: "ERR_MESSAGE_NOT_SERIALIZABLE" });
  }
  const text = "a\u0000b \ud800 \udfff c";
  await mq.queue("odd").publish({ n: 1, text }, { headers: { trace: text } });
  const [row] = await stored("odd");
  assert.deepEqual(JSON.parse(row?.payload ?? ""), [{ n: 1, text }]);
  assert.deepEqual(JSON.parse(row?.meta ?? ""), [{ trace: text }]);
});

test("P4 collect stores all, in order, if the body resolves, and nothing if it rejects", async (t) => {
  const mq = testClient(t, { queues: [testQueue("collected")], connectionString });
  const { publish } = mq.queue("collected");
  const result = await publish.collect(async (put) => {
    for (const n of upTo(5)) {
      put({ n });
      await undefined;
    }
    return "the body's result";
  });
  assert.equal(result, "the body's result");
  const mine = new Error("mine");
  await assert.rejects(
    publish.collect((put) => {
      put({ n: 99 });
      throw mine;
    }),
    (error) => error === mine,
  );
  assert.deepEqual(numbersOf(await stored("collected")), upTo(5));
});

test("P4 what is put when the body has ended is refused, and not lost without a word", async (t) => {
  const mq = testClient(t, { queues: [testQueue("put-late")], connectionString });
  const { publish } = mq.queue("put-late");
  const late = { code: "ERR_COLLECT_OVER", message: /queue "put-late"/ };
  const puts: ((message: unknown) => void)[] = [];
  const publishing = publish.collect((put) => {
    puts.push(put);
    put({ n: 0 });
  });
  await undefined;
  assert.throws(() => puts[0]?.({ n: 1 }), late, "while it is written");
  await publishing;
  assert.throws(() => puts[0]?.({ n: 2 }), late);
  const failing = publish.collect((put) => {
    puts.push(put);
    throw new Error("mine");
  });
  await assert.rejects(failing, /mine/);
  assert.throws(() => puts[1]?.({ n: 3 }), late);
  assert.deepEqual(numbersOf(await stored("put-late")), [0]);
});

test("options that no compiler has checked are refused where they are given, with the value and the nearest name", async (t) => {
  const mq = testClient(t, { queues: [testQueue("unchecked")], connectionString });
  const { publish } = mq.queue("unchecked");
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{ delayms: 60_000 }, /"delayms" is no option; did you mean "delayMs"\?/],
    [{ headers: { tenant: 7 } }, /headers must be texts; "tenant" is 7, a number/],
    [{ headers: "tenant" }, /headers must be an object of texts, found tenant/],
    [{ alone: "yes" }, /alone must be true or false, found yes/],
    [{ signal: {} }, /signal must be an AbortSignal/],
    [null, /expected an object of options, found null/],
    [5, /expected an object of options, found 5/],
  ];
  for (const [options, message] of wrong) {
    const refused = { code: "ERR_PUBLISH_OPTIONS", message };
    await assert.rejects(publish({ n: 1 }, options as never), refused);
    await assert.rejects(publish.many([{ n: 1 }], options as never), refused);
  }
  for (const messages of [5, "text", undefined, null]) {
    await assert.rejects(publish.many(messages as never), { code: "ERR_PUBLISH_OPTIONS", message: /takes a list/ });
  }
  assert.equal((await stored("unchecked")).length, 0);
});

test("P10 repeats within one publish are dropped, the kept one keeps its place, and a missing key is no repeat", async (t) => {
  const dedup = (keep: string) => ({ dedup: { by: ["/key"], keep } });
  const queues = [testQueue("keep-first", dedup("first")), testQueue("keep-last", dedup("last"))];
  const mq = testClient(t, { queues, connectionString });
  const dropped = heard(mq, "deduplicated");
  const messages = [{ n: 0, key: "a" }, { n: 1, key: "b" }, { n: 2, key: "a" }, { n: 3 }, { n: 4 }, { n: 5, key: "b" }];
  assert.equal((await mq.queue("keep-first").publish.many(messages)).stored, 4);
  await mq.queue("keep-last").publish.many(messages);
  assert.deepEqual(numbersOf(await stored("keep-first")), [0, 1, 3, 4]);
  assert.deepEqual(numbersOf(await stored("keep-last")), [2, 3, 4, 5]);
  assert.deepEqual(
    dropped.map(({ messages }) => messages),
    [2, 2],
  );
  await mq.transaction(async () => {
    for (const message of messages) await mq.queue("keep-first").publish(message);
  });
  assert.equal((await stored("keep-first")).at(-1)?.message_count, 4, "one transaction publishes together");
});

test("P10 a window drops repeats among its publishes once more, and a dropped one settles with the kept one", async (t) => {
  const options = { dedup: { by: ["/key"], keep: "last" }, buffer: { windowMs: 20, maxMs: 0 } };
  const mq = testClient(t, { queues: [testQueue("window-repeats", options)], connectionString });
  const published = heard(mq, "published");
  const { publish } = mq.queue("window-repeats");
  const ids = await Promise.all([0, 1, 2].map((n) => publish({ n, key: "same" })));
  const rows = await stored("window-repeats");
  assert.deepEqual(numbersOf(rows), [2]);
  assert.deepEqual(
    ids.map(({ batchId }) => batchId),
    ids.map(() => rows[0]?.id),
  );
  assert.deepEqual(published, [{ queue: "window-repeats", messages: 1 }]);
});

test("P11 batches keep to both bounds; only what goes alike shares one, and `alone` shares none", async (t) => {
  const options = { maxBatchMessages: 3, maxBatchBytes: 1_024 };
  const mq = testClient(t, { queues: [testQueue("bounded", options)], connectionString });
  const { publish } = mq.queue("bounded");
  await assert.rejects(publish({ n: 1, text: "x".repeat(1_024) }), { code: "ERR_MESSAGE_TOO_LARGE" });
  assert.deepEqual(await stored("bounded"), []);
  const text = "x".repeat(400);
  await publish.many([0, 1, 2, 3, 4].map((n) => (n < 3 ? { n, text } : { n })));
  for (const { payload } of await stored("bounded")) assert.ok(Buffer.byteLength(payload) <= 1_024);
  assert.deepEqual(
    (await stored("bounded")).map(({ message_count }) => message_count),
    [2, 3],
  );
  const several = [
    publish({ n: 10 }),
    publish({ n: 11 }, { headers: { h: "1" } }),
    publish({ n: 12 }, { priority: 5 }),
    publish({ n: 13 }, { alone: true }),
    publish({ n: 14 }),
  ];
  await Promise.all(several);
  const rows = (await stored("bounded")).slice(2);
  assert.deepEqual(
    rows.map((row) => numbersOf([row])),
    [[10, 11], [12], [13], [14]],
  );
  assert.deepEqual(JSON.parse(rows[0]?.meta ?? ""), [{}, { h: "1" }], "P12 headers lie beside their messages");
});

test("P14 a delay counts from the insert on the database's clock, and runAt is that clock's time", async (t) => {
  const mq = testClient(t, { queues: [testQueue("later")], connectionString });
  const { publish } = mq.queue("later");
  await publish({ n: 0 }, { delayMs: 60_000 });
  const runAt = new Date(Date.now() + 3_600_000);
  await publish({ n: 1 }, { runAt });
  await assert.rejects(publish({ n: 2 }, { runAt, delayMs: 1 }), { code: "ERR_PUBLISH_OPTIONS" });
  const { rows } = await pool.query(
    `select status, round(extract(epoch from available_at - created_at)) as wait_seconds, available_at
       from postrider.queue_message_batch where queue_name = 'later' order by id`,
  );
  assert.deepEqual(
    rows.map(({ status }) => status),
    ["delayed", "delayed"],
  );
  assert.equal(Number(rows[0].wait_seconds), 60);
  assert.deepEqual(rows[1].available_at, runAt);
});

test("P15, P16 publishing needs no listener, and any SQL client may publish", async (t) => {
  const mq = testClient(t, { queues: [testQueue("sql", { maxBatchMessages: 2 })], connectionString });
  await mq.start();
  await mq.queue("sql").publish({ n: 0 });
  await pool.query(
    `select postrider.publish('sql', '[{"n":1},{"n":2},{"n":3}]', priority => 7, headers => '{"h":"x"}')`,
  );
  await assert.rejects(pool.query(`select postrider.publish('sql', '{"n":1}')`), /JSON array/);
  const rows = await stored("sql");
  assert.deepEqual(numbersOf(rows), upTo(4));
  assert.deepEqual(
    rows.slice(1).map(({ message_count, priority, meta }) => [message_count, priority, JSON.parse(meta ?? "")]),
    [
      [2, 7, [{ h: "x" }, { h: "x" }]],
      [1, 7, [{ h: "x" }]],
    ],
  );
});

test("P17 many is all or nothing, also where it needs several statements, and has a bound that an endless list meets", async (t) => {
  await pool.query(
    `alter table postrider.queue_message_batch add constraint no_last
      check (queue_name <> 'many' or payload not like '%"n":499}%')`,
  );
  t.after(async () => void (await pool.query("alter table postrider.queue_message_batch drop constraint no_last")));
  const mq = testClient(t, { queues: [testQueue("many", { maxBatchMessages: 1 })], connectionString });
  const { publish } = mq.queue("many");
  const messages = (count: number) => upTo(count).map((n) => ({ n }));
  await assert.rejects(publish.many(messages(500)), /no_last/);
  assert.deepEqual(await stored("many"), []);
  const result = await publish.many(messages(400));
  assert.equal(result.stored, 400);
  assert.equal(result.batchIds.length, 400);
  assert.deepEqual(numbersOf(await stored("many")), upTo(400));
  const endless = function* () {
    for (;;) yield { n: 1 };
  };
  await assert.rejects(publish.many(endless()), { code: "ERR_TOO_MANY" });
});

test("P17 an async iterable is stored in chunks bounded in messages and bytes, and says how many were stored", async (t) => {
  const queues = [testQueue("stream", { maxBatchBytes: 4_000_000 }), testQueue("stream-stops")];
  const mq = testClient(t, { queues, connectionString });
  const large = async function* () {
    const text = "x".repeat(1_000_000);
    for (const n of upTo(40)) yield { n, text };
  };
  assert.equal((await mq.queue("stream").publish.many(large())).stored, 40);
  assert.deepEqual(numbersOf(await stored("stream")), upTo(40));
  const broken = async function* () {
    for (const n of upTo(2_500)) yield { n };
    throw new Error("the source broke");
  };
  await assert.rejects(mq.queue("stream-stops").publish.many(broken()), ({ message, details }) => {
    return message === "the source broke" && details.stored === 2_000;
  });
  assert.equal(numbersOf(await stored("stream-stops")).length, 2_000);
});
