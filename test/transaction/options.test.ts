/** How a transaction runs: isolation, read only, retries; and that one connection is enough for everything. */
import assert from "node:assert/strict";
import test, { before } from "node:test";
import pg from "pg";
import { testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, numbersOf } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
before(() => pool.query("create table counter as select 0 as value"));

test("isolation and readOnly reach the database", async (t) => {
  const mq = testClient(t, { connectionString, queues: [testQueue("modes")] });
  for (const isolation of ["read committed", "repeatable read", "serializable"] as const) {
    const { rows } = await mq.transaction((tx) => tx.query("show transaction_isolation"), { isolation });
    assert.deepEqual(rows, [{ transaction_isolation: isolation }]);
  }
  const publishing = mq.transaction(() => mq.queue("modes").publish({ n: 1 }), { readOnly: true });
  await assert.rejects(publishing, { code: "25006" });
});

test("retries: transactions that collide all succeed, and each publishes exactly once", async (t) => {
  const mq = testClient(t, { connectionString, queues: [testQueue("colliding")] });
  let runs = 0;
  let hooks = 0;
  const count = (n: number, retries: number) =>
    mq.transaction(
      async (tx) => {
        runs += 1;
        mq.afterCommit(() => {
          hooks += 1;
        });
        const { rows } = await tx.query("select value from counter");
        await mq.queue("colliding").publish({ n });
        await tx.query("update counter set value = $1", [Number(rows[0]?.value) + 1]);
      },
      { isolation: "serializable", retries },
    );
  await Promise.all(Array.from({ length: 10 }, (_, n) => count(n, 100)));
  assert.ok(runs > 10, "nothing collided: the test shows nothing");
  assert.equal(hooks, 10);
  assert.deepEqual((await pool.query("select value from counter")).rows, [{ value: 10 }]);
  const numbers = [...numbersOf(await batchesOf(pool, "colliding"))].sort((a, b) => a - b);
  assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("retries: only what may succeed is run again, and without the option nothing is", async (t) => {
  const mq = testClient(t, { connectionString, queues: [testQueue("failing")] });
  let runs = 0;
  const failWith = (code: string) => () => {
    runs += 1;
    throw new Error("wrapped by an ORM", { cause: Object.assign(new Error("the database's"), { code }) });
  };
  await assert.rejects(mq.transaction(failWith("40001")), /wrapped/);
  assert.equal(runs, 1);
  await assert.rejects(mq.transaction(failWith("23505"), { retries: 3 }), /wrapped/);
  assert.equal(runs, 2);
  await assert.rejects(mq.transaction(failWith("40P01"), { retries: 3 }), /wrapped/);
  assert.equal(runs, 6);
  await assert.rejects(mq.transaction(failWith("40001"), { retries: -1 }), { code: "ERR_CLIENT_OPTIONS" });
});

test("Q1 a pool of one connection is enough: publishing, transactions, hooks and wake-ups at once", async (t) => {
  const mq = testClient(t, { connectionString, queues: [testQueue("single")], poolSize: 1 });
  const { publish } = mq.queue("single");
  const numbers = Array.from({ length: 6_000 }, (_, n) => ({ n }));
  const inHook: unknown[] = [];
  await Promise.all([
    publish({ n: -1 }),
    publish.many(numbers),
    ...Array.from({ length: 20 }, () =>
      mq.transaction(async (tx) => {
        await tx.query("select 1");
        await publish({ n: -2 });
        await mq.transaction(() => publish({ n: -3 }));
        mq.afterCommit(async () => inHook.push(await publish({ n: -4 })));
      }),
    ),
    mq.flush(),
  ]);
  await mq.flush();
  assert.equal(inHook.length, 20);
  assert.equal(numbersOf(await batchesOf(pool, "single")).length, 1 + 6_000 + 60);
});

test("T1, T2: 1,000 transactions at once, a third rolled back, a third with a savepoint rolled back", async (t) => {
  // A pool without a limit on waiting for a connection: on a slow machine the last of them wait longer than 10 s.
  const patient = new pg.Pool({ connectionString, max: 10 });
  const mq = testClient(t, { pool: patient, queues: [testQueue("thousand"), testQueue("thousand-too")] });
  t.after(() => patient.end());
  const first = mq.queue("thousand").publish;
  const second = mq.queue("thousand-too").publish;
  const hooks: number[] = [];
  const run = (n: number) =>
    mq.transaction(async (tx) => {
      mq.afterCommit(() => hooks.push(n));
      await first({ n });
      await tx.query("select pg_sleep(0)");
      await Promise.all([second({ n }), second({ n: n + 10_000 })]);
      if (n % 3 === 1) {
        const failing = mq.transaction(async (savepoint) => {
          await first({ n: -n });
          await savepoint.query("select pg_sleep(0)");
          throw new Error("the savepoint");
        });
        await assert.rejects(failing, /the savepoint/);
      }
      if (n % 3 === 0) throw new Error("the transaction");
    });
  const outcomes = await Promise.allSettled(Array.from({ length: 1_000 }, (_, n) => run(n)));
  const kept = outcomes.flatMap(({ status }, n) => (status === "fulfilled" ? [n] : []));
  const expected = Array.from({ length: 1_000 }, (_, n) => n).filter((n) => n % 3 !== 0);
  const inOrder = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);
  assert.deepEqual(kept, expected);
  assert.deepEqual(inOrder(hooks), expected);
  assert.deepEqual(inOrder(numbersOf(await batchesOf(pool, "thousand"))), expected);
  const both = inOrder([...expected, ...expected.map((n) => n + 10_000)]);
  assert.deepEqual(inOrder(numbersOf(await batchesOf(pool, "thousand-too"))), both);
});
