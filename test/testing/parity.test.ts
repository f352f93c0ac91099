/** The scenarios that both backends must play alike, stored once and twice, through a client as an application has it. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type TestMq, type TestMqOptions, withTestMq } from "../../src/testing/testing.js";
import { testDatabase } from "../support/database.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";

const { pool } = await testDatabase();
const backoff = { initialMs: 1, factor: 1, maxMs: 1, jitter: 0 };
const queues = [
  testQueue("plain", { backoff }),
  testQueue("singly", { backoff, maxBatchMessages: 1 }),
  testQueue("deduplicated", { dedup: { by: ["/key"], keep: "last" } }),
  testQueue("exclusive", { exclusive: true, concurrency: 4, maxBatchMessages: 1 }),
  testQueue("hopeless", { backoff, maxAttempts: 2 }),
];

for (const [backend, where] of [
  ["memory", {}],
  ["postgres", { pool }],
] as const) {
  for (const duplicateDelivery of [false, true]) {
    suite(`${backend}, every batch stored ${duplicateDelivery ? "twice" : "once"}`, () => {
      scenarios({ ...where, queues, duplicateDelivery }, duplicateDelivery ? 2 : 1);
    });
  }
}

function scenarios(options: TestMqOptions, copies: 1 | 2): void {
  const handling = (queue: string, seen: TestMessage[]) => ({
    ...options,
    handlers: { [queue]: (messages: readonly TestMessage[]) => void seen.push(...messages) },
  });
  const distinct = (seen: readonly TestMessage[]) => [...new Set(seen.map(({ n }) => n))];
  const deadOf = async (mq: TestMq, queue: string) => (await mq.inspect.dead(queue)).map(({ reason }) => reason);

  test("D1 delivery: each message as often as it is stored", async () => {
    const seen: TestMessage[] = [];
    await withTestMq(handling("plain", seen), async (mq) => {
      for (let n = 0; n < 5; n += 1) await mq.queue("plain").publish({ n });
      await mq.settled();
    });
    assert.deepEqual([seen.length, distinct(seen).toSorted()], [5 * copies, [0, 1, 2, 3, 4]]);
  });

  test("D4 a throw is tried again", async () => {
    const attempts: number[] = [];
    const plain = (_: readonly TestMessage[], { attempt }: { readonly attempt: number }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Error("the first time");
    };
    await withTestMq({ ...options, handlers: { plain } }, async (mq) => {
      await mq.queue("plain").publish({ n: 1 });
      await mq.settled();
      assert.deepEqual(await deadOf(mq, "plain"), []);
    });
    assert.equal(attempts.filter((attempt) => attempt === 2).length, copies);
  });

  test("P2 messages have the shape JSON gives them, and so do strange texts", async () => {
    const seen: TestMessage[] = [];
    const text = "\u0000 \ud800 ü 🐘";
    await withTestMq(handling("plain", seen), async (mq) => {
      await mq.queue("plain").publish({ n: 1, text, key: undefined });
      await mq.settled();
    });
    assert.deepEqual(seen, Array(copies).fill({ n: 1, text }));
  });

  test("P5 order: one publisher's messages, claimed one after another, come in their order", async () => {
    const seen: TestMessage[] = [];
    await withTestMq(handling("singly", seen), async (mq) => {
      await mq.queue("singly").publish.many(Array.from({ length: 20 }, (_, n) => ({ n })));
      await mq.settled();
    });
    assert.deepEqual(distinct(seen), [...Array(20).keys()]);
  });

  test("P10 dedup among what is published together", async () => {
    const seen: TestMessage[] = [];
    await withTestMq(handling("deduplicated", seen), async (mq) => {
      await mq.queue("deduplicated").publish.many([
        { n: 1, key: "a" },
        { n: 2, key: "b" },
        { n: 3, key: "a" },
      ]);
      await mq.settled();
    });
    assert.deepEqual(distinct(seen).toSorted(), [2, 3]);
  });

  test("T1 a transaction stores all or nothing", async () => {
    const seen: TestMessage[] = [];
    await withTestMq(handling("plain", seen), async (mq) => {
      const publish = (n: number) => mq.queue("plain").publish({ n });
      await mq.transaction(() => Promise.all([publish(1), publish(2)]));
      const failed = mq.transaction(async () => {
        await publish(3);
        throw new Error("no");
      });
      await assert.rejects(failed, /no/);
      await mq.settled();
    });
    assert.deepEqual(distinct(seen).toSorted(), [1, 2]);
  });

  test("E1 an exclusive queue never has two in its handlers", async () => {
    let [running, most, calls] = [0, 0, 0];
    const exclusive = async () => {
      running += 1;
      calls += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    await withTestMq({ ...options, handlers: { exclusive } }, async (mq) => {
      for (let n = 0; n < 6; n += 1) await mq.queue("exclusive").publish({ n });
      await mq.settled();
    });
    assert.deepEqual([most, calls], [1, 6 * copies]);
  });

  test("D4 what fails to the last goes to the dead letters, with its error", async () => {
    const hopeless = () => {
      throw new Error("never");
    };
    await withTestMq({ ...options, handlers: { hopeless } }, async (mq) => {
      await mq.queue("hopeless").publish({ n: 1 });
      await mq.settled();
      assert.deepEqual(await deadOf(mq, "hopeless"), Array(copies).fill("attempts"));
      assert.match((await mq.inspect.dead("hopeless"))[0]?.error ?? "", /Error: never/);
    });
  });
}
