/** Transactions: what is published in them, savepoints, hooks, and every way in which they end. */
import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { heard, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { startProxy } from "../support/proxy.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, numbersOf, upTo } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
await pool.query("create table written (n int primary key, checked int)");
const numbersIn = async (queue: string) => numbersOf(await batchesOf(pool, queue));
const written = async () =>
  (await pool.query<{ n: number }>("select n from written order by n")).rows.map(({ n }) => n);

function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test("T1 publishing in a transaction collects; nothing is visible before the commit, and all of it after", async (t) => {
  const queues = [testQueue("t1-a"), testQueue("t1-b")];
  const mq = testClient(t, { queues, connectionString });
  const published = heard(mq, "published");
  const deeper = async () => await mq.queue("t1-b").publish({ n: 2 });
  await mq.transaction(async (tx) => {
    await tx.query("insert into written (n) values (1)");
    await mq.queue("t1-a").publish({ n: 1 });
    await deeper();
    await assert.rejects(mq.queue("t1-a").publish({ n: "no" }), { code: "ERR_MESSAGE_INVALID" });
    assert.deepEqual(await numbersIn("t1-a"), []);
    assert.deepEqual(published, []);
  });
  assert.deepEqual([await numbersIn("t1-a"), await numbersIn("t1-b")], [[1], [2]]);
  assert.deepEqual(published, [
    { queue: "t1-a", messages: 1 },
    { queue: "t1-b", messages: 1 },
  ]);
});

test("T1 a rollback leaves no row, no notification and no hook", async (t) => {
  const mq = testClient(t, { queues: [testQueue("t1-rollback")], connectionString });
  const listener = new pg.Client(connectionString);
  await listener.connect();
  t.after(() => listener.end());
  const notes: unknown[] = [];
  listener.on("notification", (note) => notes.push(note));
  // Somebody sleeps on every key: whoever wakes must notify.
  await listener.query("listen postrider; select pg_advisory_lock_shared(7302, k) from generate_series(0, 63) k");
  let ran = false;
  const mine = new Error("mine");
  const failing = mq.transaction(async () => {
    await mq.queue("t1-rollback").publish({ n: 1 });
    mq.afterCommit(() => {
      ran = true;
    });
    throw mine;
  });
  await assert.rejects(failing, (error) => error === mine);
  await mq.flush();
  await listener.query("select 1");
  assert.deepEqual(notes, []);
  assert.deepEqual(await numbersIn("t1-rollback"), []);
  assert.equal(ran, false);
});

test("T1 what is published while the commit is under way is refused, not promised and lost", async (t) => {
  const mq = testClient(t, { queues: [testQueue("t1-late")], connectionString });
  const holder = await pool.connect();
  const late: Promise<unknown>[] = [];
  try {
    await holder.query("begin; lock table postrider.queue_message_batch in share mode");
    const waiting = new Promise<void>((resolve) => setTimeout(resolve, 50));
    const whole = mq.transaction(async () => {
      await mq.queue("t1-late").publish({ n: 1 });
      late.push(waiting.then(() => mq.queue("t1-late").publish({ n: 2 })));
    });
    await waiting;
    await assert.rejects(Promise.all(late), { code: "ERR_TRANSACTION_OVER" });
    await holder.query("commit");
    await whole;
  } finally {
    holder.release();
  }
  assert.deepEqual(await numbersIn("t1-late"), [1]);
});

test("T2, T4 a savepoint that rolls back takes its messages, hooks and state along; one that succeeds joins", async (t) => {
  const mq = testClient(t, { queues: [testQueue("t2")], connectionString });
  const { publish } = mq.queue("t2");
  const hooks: string[] = [];
  assert.equal(mq.transactionState(), undefined);
  await mq.transaction(async (tx) => {
    mq.transactionState()?.set("who", "outer");
    await publish({ n: 1 });
    const failing = mq.transaction(async (inner) => {
      await inner.query("insert into written (n) values (20)");
      await publish({ n: 2 });
      mq.afterCommit(() => hooks.push("failed"));
      mq.transactionState()?.set("who", "inner");
      mq.transactionState()?.set("more", true);
      throw new Error("only the inner one");
    });
    await assert.rejects(failing, /only the inner one/);
    assert.deepEqual([...(mq.transactionState() ?? [])], [["who", "outer"]]);
    await mq.transaction(async () => {
      await publish({ n: 3 });
      mq.afterCommit(() => hooks.push("joined"));
      await mq.transaction(() => publish({ n: 4 }));
    });
    await tx.query("insert into written (n) values (21)");
    assert.deepEqual(hooks, [], "T3 not before the outermost commit");
  });
  assert.deepEqual(await numbersIn("t2"), [1, 3, 4]);
  assert.deepEqual(
    (await written()).filter((n) => n >= 20 && n < 30),
    [21],
  );
  assert.deepEqual(hooks, ["joined"]);
});

test("T2 savepoints of one parent run one after another, and the parent's statements wait meanwhile", async (t) => {
  const mq = testClient(t, { queues: [], connectionString });
  await mq.transaction(async (tx) => {
    const steps: string[] = [];
    const nested = (name: string, fails: boolean) =>
      mq.transaction(async (inner) => {
        steps.push(`${name} begins`);
        await inner.query("select pg_sleep(0.02)");
        await tx.query("select 'the outer one, from within: must not wait for itself'");
        steps.push(`${name} ends`);
        if (fails) throw new Error(name);
      });
    const first = nested("first", true).catch(() => undefined);
    const second = nested("second", false);
    const parents = tx.query("insert into written (n) values (30)").then(() => steps.push("parent"));
    await Promise.all([first, second, parents]);
    assert.deepEqual(steps, ["first begins", "first ends", "second begins", "second ends", "parent"]);
  });
  assert.ok((await written()).includes(30), "it was not inside the savepoint that rolled back");
});

test("T3 hooks run in order, after the connection is back, hooks of hooks too; one that throws is told", async (t) => {
  const mq = testClient(t, { queues: [testQueue("t3")], connectionString, poolSize: 1 });
  const order: unknown[] = [];
  const told = nextEvent(mq, "error", ({ part }) => part === "after-commit hook");
  assert.equal(
    mq.afterCommit(() => order.push("never")),
    false,
  );
  await mq.transaction(async () => {
    mq.afterCommit(async () => {
      // The pool has one connection: this would wait for ever, were it not back.
      await mq.queue("t3").publish({ n: 1 });
      order.push("first", mq.transactionState());
      assert.equal(
        mq.afterCommit(() => order.push("hook of a hook")),
        true,
      );
    });
    mq.afterCommit(() => {
      throw new Error("a hook's own");
    });
    mq.afterCommit(() => order.push("last"));
  });
  assert.deepEqual(order, ["first", undefined, "last", "hook of a hook"]);
  assert.match(String((await told).error), /a hook's own/);
  assert.deepEqual(await numbersIn("t3"), [1]);
});

test("T5 two transactions at once never mix", async (t) => {
  const mq = testClient(t, { queues: [testQueue("t5")], connectionString });
  const { publish } = mq.queue("t5");
  const one = async (n: number) => {
    await mq.transaction(async (tx) => {
      mq.transactionState()?.set("n", n);
      for (let turn = 0; turn < 3; turn += 1) {
        await tx.query("select pg_sleep(0.002)");
        await publish({ n });
        assert.equal(mq.transactionState()?.get("n"), n);
      }
      if (n % 2 === 1) throw new Error("odd ones fail");
    });
  };
  await Promise.allSettled(upTo(8).map(one));
  const numbers = [...(await numbersIn("t5"))].sort();
  assert.deepEqual(numbers, [0, 0, 0, 2, 2, 2, 4, 4, 4, 6, 6, 6]);
});

test("T5 after its transaction a publisher is outside if that committed, and refused if it rolled back", async (t) => {
  const mq = testClient(t, { queues: [testQueue("t5-after")], connectionString });
  const { publish } = mq.queue("t5-after");
  const [committed, rolledBack] = [deferred(), deferred()];
  let afterwards: Promise<unknown> = Promise.resolve();
  let refused: Promise<unknown> = Promise.resolve();
  await mq.transaction(async () => {
    afterwards = committed.promise.then(() => publish({ n: 1 }));
  });
  committed.resolve();
  await afterwards;
  await assert.rejects(
    mq.transaction(async () => {
      refused = rolledBack.promise.then(() => publish({ n: 2 }));
      throw new Error("rolled back");
    }),
  );
  rolledBack.resolve();
  await assert.rejects(refused, { code: "ERR_TRANSACTION_OVER" });
  assert.deepEqual(await numbersIn("t5-after"), [1]);
});

test("T5 a client joins its own transaction also from within another client's", async (t) => {
  const outer = testClient(t, { queues: [testQueue("t5-two")], connectionString });
  const inner = testClient(t, { queues: [], connectionString });
  const failing = outer.transaction(async () => {
    await inner.transaction(async () => void (await outer.queue("t5-two").publish({ n: 1 })));
    throw new Error("the outer one");
  });
  await assert.rejects(failing, /the outer one/);
  assert.deepEqual(await numbersIn("t5-two"), []);
});

test("T6 through the caller's own transaction the row is written at once, and its commit decides", async (t) => {
  const mq = testClient(t, { queues: [testQueue("t6")], connectionString });
  const client = await pool.connect();
  try {
    await client.query("begin");
    await mq.queue("t6").publish({ n: 1 }, { tx: client });
    assert.equal((await client.query("select from postrider.queue_message_batch where queue_name = 't6'")).rowCount, 1);
    await client.query("rollback");
    await client.query("begin");
    const { batchId } = await mq.queue("t6").publish({ n: 2 }, { tx: client });
    await client.query("commit");
    assert.equal((await batchesOf(pool, "t6"))[0]?.id, batchId);
  } finally {
    client.release();
  }
  assert.deepEqual(await numbersIn("t6"), [2]);
});

test("T7 a commit that fails rejects, runs no hook and stores nothing", async (t) => {
  await pool.query(`create table referenced (n int primary key);
    create table referring (n int references referenced deferrable initially deferred)`);
  const mq = testClient(t, { queues: [testQueue("t7")], connectionString });
  let ran = false;
  const failing = mq.transaction(async (tx) => {
    mq.afterCommit(() => {
      ran = true;
    });
    await mq.queue("t7").publish({ n: 1 });
    await tx.query("insert into referring values (1)");
  });
  await assert.rejects(failing, { code: "23503" });
  assert.equal(ran, false);
  assert.deepEqual(await numbersIn("t7"), []);
});

test("T7 a transaction with a swallowed error rejects, and does not roll back somebody else's", async (t) => {
  const mq = testClient(t, { queues: [], connectionString, poolSize: 1 });
  const failing = mq.transaction(async (tx) => {
    await tx.query("select 1 / 0").catch(() => undefined);
  });
  // Next in line for the only connection.
  const next = (async () => {
    await new Promise((resolve) => setImmediate(resolve));
    await mq.transaction(async (tx) => {
      await tx.query("insert into written (n) values (70)");
      await tx.query("select pg_sleep(0.05)");
    });
  })();
  await assert.rejects(failing, /rolled back/);
  await next;
  assert.ok((await written()).includes(70));
});

test("T7 a connection killed in the middle rejects, and the client goes on with another", async (t) => {
  const mq = testClient(t, { queues: [testQueue("t7-killed")], connectionString });
  const failing = mq.transaction(async (tx) => {
    await mq.queue("t7-killed").publish({ n: 1 });
    const { rows } = await tx.query("select pg_backend_pid() as pid");
    await pool.query("select pg_terminate_backend($1, 5000)", [rows[0]?.pid]);
    await tx.query("select 1");
  });
  await assert.rejects(failing);
  await mq.transaction(() => mq.queue("t7-killed").publish({ n: 2 }));
  assert.deepEqual(await numbersIn("t7-killed"), [2]);
});

test("T7 a rollback on a dead network takes its connection along instead of waiting", {
  timeout: 30_000,
}, async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const mq = testClient(t, { queues: [], connectionString: proxy.connectionString });
  const failing = mq.transaction(async () => {
    proxy.drop();
    throw new Error("mine");
  });
  await assert.rejects(failing, /mine/);
  await proxy.pass();
});

test("statements of a transaction that has ended are refused: its connection is somebody else's", async (t) => {
  const mq = testClient(t, { queues: [], connectionString, poolSize: 1 });
  let leaked: { query(sql: string): Promise<unknown> } | undefined;
  const child = deferred();
  let late: Promise<unknown> = Promise.resolve();
  const failing = mq.transaction(async (tx) => {
    leaked = tx;
    late = mq.transaction(async (inner) => {
      await child.promise;
      await inner.query("insert into written (n) values (80)");
    });
    late.catch(() => undefined);
    throw new Error("over");
  });
  await assert.rejects(failing, /over/);
  child.resolve();
  await assert.rejects(late, { code: "ERR_TRANSACTION_OVER" });
  await assert.rejects(leaked?.query("insert into written (n) values (81)") ?? Promise.resolve(), {
    code: "ERR_TRANSACTION_OVER",
  });
  assert.deepEqual(
    (await written()).filter((n) => n >= 80),
    [],
  );
});

test("T8 handlers run in the root context, whoever started the client", async (t) => {
  const mq = testClient(t, { queues: [testQueue("t8")], connectionString });
  const seen = deferred<unknown>();
  await mq.transaction(async () => {
    mq.queue("t8").listen(() => seen.resolve(mq.transactionState()));
    await mq.start();
  });
  await mq.queue("t8").publish({ n: 1 });
  assert.equal(await seen.promise, undefined);
});
