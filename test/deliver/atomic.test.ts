/** D9: what an atomic handler writes, what it publishes and the removal of its batches commit together, or not at all. */
import assert from "node:assert/strict";
import test from "node:test";
import type { Runtime } from "../../src/runtime.js";
import { heard, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";
import { batchesOf, deadOf, numbersOf, upTo } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
await pool.query("create table effect (queue text not null, n int not null)");
const quick = { backoff: { initialMs: 1, maxMs: 1 } };
const isGone = (queue: string) => eventually(async () => (await batchesOf(pool, queue)).length === 0);
const insert = "insert into effect (queue, n) values ($1, $2)";

async function effects(queue: string): Promise<readonly number[]> {
  const { rows } = await pool.query("select n from effect where queue = $1 order by n", [queue]);
  return rows.map(({ n }) => n);
}

/** A client that is not started, with so many messages waiting in the first queue. */
async function waiting(
  t: test.TestContext,
  count: number,
  ...queues: ReturnType<typeof testQueue>[]
): Promise<Runtime> {
  const mq = testClient(t, { queues, connectionString, pollMs: 600_000, heartbeatMs: 50 });
  const [first] = queues;
  for (const n of upTo(count)) await mq.queue(first?.name ?? "").publish({ n });
  return mq;
}

test("D9 writes, publishes and the removal commit together; hooks run after it, once", async (t) => {
  const mq = await waiting(t, 2, testQueue("whole", quick), testQueue("whole-next"));
  const hooks: unknown[] = [];
  mq.queue("whole").listen(
    async (messages, { tx, attempt }) => {
      for (const { n } of messages as TestMessage[]) await tx?.query(insert, ["whole", n]);
      await mq.queue("whole-next").publish({ n: attempt });
      assert.equal(
        mq.afterCommit(() => hooks.push(attempt)),
        true,
      );
      if (attempt === 2) return;
      assert.deepEqual(await batchesOf(pool, "whole-next"), [], "nobody sees it before the commit");
      throw new Error("not yet");
    },
    { atomic: true },
  );
  await mq.start();
  await isGone("whole");
  assert.deepEqual(await effects("whole"), [0, 1]);
  // The two failed together and then came alone, each with its own transaction.
  assert.deepEqual(
    (await batchesOf(pool, "whole-next")).map((row) => numbersOf([row])),
    [[2], [2]],
  );
  assert.deepEqual(hooks, [2, 2]);
});

test("D9 with each, a message that throws undoes what it wrote, and the others' stays", async (t) => {
  const mq = await waiting(t, 0, testQueue("each", { backoff: { initialMs: 3_600_000 }, concurrency: 4 }));
  await mq.queue("each").publish.many(upTo(3).map((n) => ({ n })));
  const retried = nextEvent(mq, "retried");
  mq.queue("each").listen.each(
    async (message, { tx }) => {
      const { n } = message as TestMessage;
      await tx?.query(insert, ["each", n]);
      if (n === 1) throw new Error("no");
    },
    { atomic: true },
  );
  await mq.start();
  await retried;
  assert.deepEqual(await effects("each"), [0, 2]);
  const [row, ...more] = await batchesOf(pool, "each");
  assert.deepEqual([row && numbersOf([row]), row?.failures, more], [[1], 1, []]);
});

test("D9, R1 a lease lost before the commit rolls everything back, and nobody has failed", async (t) => {
  const mq = await waiting(t, 2, testQueue("lost"), testQueue("lost-next"));
  const failed = heard(mq, "handlerFailed");
  const lost = nextEvent(mq, "leaseLost");
  let calls = 0;
  mq.queue("lost").listen(
    async (_, { tx, batchIds }) => {
      calls += 1;
      if (calls > 1) return;
      await tx?.query(insert, ["lost", 0]);
      await mq.queue("lost-next").publish({ n: 1 });
      await pool.query("update postrider.queue_message_batch set claim_token = 1 where id = $1", [batchIds[0]]);
    },
    { atomic: true },
  );
  await mq.start();
  await lost;
  await eventually(async () => (await batchesOf(pool, "lost")).length === 1);
  assert.deepEqual([await effects("lost"), await batchesOf(pool, "lost-next"), failed], [[], [], []]);
  const [row] = await batchesOf(pool, "lost");
  assert.deepEqual([row?.failures, calls], [0, 2]);
});

test("D9 a commit that fails is a failure of the call, and nothing of it is there", async (t) => {
  await pool.query("create table parent (id int primary key)");
  await pool.query("create table child (id int references parent (id) deferrable initially deferred)");
  const mq = await waiting(t, 1, testQueue("deferred", { ...quick, maxAttempts: 2 }));
  const dead = nextEvent(mq, "dead");
  mq.queue("deferred").listen((_, { tx }) => tx?.query("insert into child (id) values (7)"), { atomic: true });
  await mq.start();
  assert.equal((await dead).reason, "attempts");
  assert.match((await deadOf(pool, "deferred"))[0]?.error ?? "", /foreign key/);
  assert.equal((await pool.query("select from child")).rowCount, 0);
});

test("D9 indexes that an atomic batch handler reports as failed fail the whole call", async (t) => {
  const mq = await waiting(t, 0, testQueue("indexes", { backoff: { initialMs: 3_600_000 } }));
  await mq.queue("indexes").publish.many(upTo(2).map((n) => ({ n })));
  const retried = nextEvent(mq, "retried");
  mq.queue("indexes").listen(
    async (_, { tx }) => {
      await tx?.query(insert, ["indexes", 0]);
      return { failed: [1] };
    },
    { atomic: true },
  );
  await mq.start();
  await retried;
  assert.deepEqual(await effects("indexes"), []);
  assert.deepEqual(
    (await batchesOf(pool, "indexes")).map((row) => numbersOf([row])),
    [[0, 1]],
  );
});

test("D9 on memory publishing joins the call, and there is no database to query", async (t) => {
  const queues = [testQueue("memory", quick), testQueue("memory-next")];
  const mq = testClient(t, { queues, backend: "memory" });
  const errors: unknown[] = [];
  mq.queue("memory").listen(
    async (_, { tx, attempt }) => {
      await mq.queue("memory-next").publish({ n: attempt });
      await tx?.query("select 1").catch((error: { code?: string }) => errors.push(error.code));
      if (attempt === 1) throw new Error("not yet");
    },
    { atomic: true },
  );
  const got = new Promise((resolve) => {
    mq.queue("memory-next").listen((messages) => resolve(messages));
  });
  await mq.start();
  await mq.queue("memory").publish({ n: 0 });
  assert.deepEqual(await got, [{ n: 2 }]);
  assert.deepEqual(errors, ["ERR_NO_DATABASE", "ERR_NO_DATABASE"]);
});
