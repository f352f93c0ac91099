/** Through PgBouncer in transaction mode, every session setting as it comes (B1, T6). */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import test, { type TestContext } from "node:test";
import pg from "pg";
import { createClient } from "../../generated/index.js";
import { executorSuite } from "../../src/testing/executor-suite.js";
import { testDatabase } from "../support/database.js";
import { pgBouncerMissing, startPgBouncer } from "../support/pg-bouncer.js";

const skip = pgBouncerMissing();

interface Pooled {
  /** Through the pooler. */
  readonly connectionString: string;
  readonly direct: string;
  readonly pool: pg.Pool;
}

async function pooled(t: TestContext): Promise<Pooled> {
  const bouncers: { stop(): Promise<void> }[] = [];
  // Before the database looks for sessions that were left: the pooler keeps its own.
  t.after(() => Promise.all(bouncers.map((bouncer) => bouncer.stop())));
  const { connectionString: direct, pool } = await testDatabase({ t });
  const bouncer = await startPgBouncer(direct);
  bouncers.push(bouncer);
  return { connectionString: bouncer.connectionString, direct, pool };
}

const reindex = (number: number) => ({ documentId: `d-${number}`, kind: "product" as const });

test("publishing and transactions work through a transaction pooler", { skip }, async (t) => {
  const { connectionString, pool } = await pooled(t);
  const mq = createClient({ connectionString });
  try {
    await Promise.all(Array.from({ length: 200 }, (_, number) => mq.publishTo.searchReindex(reindex(number))));
    await mq.publishTo.searchReindex.many(Array.from({ length: 5_000 }, (_, number) => reindex(1_000 + number)));
    await mq.transaction(async (tx) => {
      await mq.publishTo.searchReindex(reindex(10_000));
      await tx.query("create table kept as select 1 as one");
      const failing = mq.transaction(async () => {
        await mq.publishTo.searchReindex(reindex(10_001));
        throw new Error("the savepoint fails");
      });
      await assert.rejects(failing, /the savepoint fails/);
    });
    const failing = mq.transaction(async () => {
      await mq.publishTo.searchReindex(reindex(10_002));
      throw new Error("the transaction fails");
    });
    await assert.rejects(failing, /the transaction fails/);
  } finally {
    await mq.stop();
  }
  const { rows } = await pool.query("select sum(message_count)::int as count from postrider.queue_message_batch");
  assert.equal(rows[0].count, 5_201);
});

test("T6: `tx` through a transaction pooler", { skip }, async (t) => {
  const { connectionString, direct } = await pooled(t);
  const own = new pg.Pool({ connectionString, max: 2 });
  const checks = executorSuite({
    // The suite's own client hears commits, for which it needs a session of its own.
    connectionString: direct,
    transaction: async (body) => {
      const client = await own.connect();
      try {
        await client.query("begin");
        await body(client);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback");
        throw error;
      } finally {
        client.release();
      }
    },
  });
  try {
    for (const { name, run } of checks) await t.test(name, run);
  } finally {
    await own.end();
  }
});

test("B1: with a direct address for LISTEN a node is woken", { skip }, async (t) => {
  const { connectionString, direct } = await pooled(t);
  const mq = createClient({ connectionString, listenConnectionString: direct, pollMs: 60_000 });
  const seen = new EventEmitter();
  try {
    mq.onSearchReindex(async (messages) => void seen.emit("handled", messages));
    const up = once(seen, "up", { signal: AbortSignal.timeout(20_000) });
    mq.on("listenerUp", () => void seen.emit("up"));
    await mq.start();
    await up;
    const handled = once(seen, "handled", { signal: AbortSignal.timeout(10_000) });
    await mq.publishTo.searchReindex(reindex(1));
    assert.deepEqual(await handled, [[reindex(1)]]);
    assert.equal(mq.health().listener, "up");
  } finally {
    await mq.stop();
  }
});

test("B1: without one, LISTEN is called unavailable once, never healthy, and polling delivers", { skip }, async (t) => {
  const { connectionString } = await pooled(t);
  const warnings: string[] = [];
  const note = (_: object, message: string) => void warnings.push(message);
  const logger = { debug: () => undefined, info: () => undefined, warn: note, error: note };
  // The publisher is another client: a node rings its own poller without any notification.
  const mq = createClient({ connectionString, pollMs: 300, logger });
  const publisher = createClient({ connectionString });
  const seen = new EventEmitter();
  let ups = 0;
  mq.on("listenerUp", () => {
    ups += 1;
  });
  mq.on("listenerDown", ({ attempts }) => void seen.emit(`down ${attempts}`));
  try {
    mq.onSearchReindex(async (messages) => void seen.emit("handled", messages));
    const downTwice = once(seen, "down 2", { signal: AbortSignal.timeout(30_000) });
    await mq.start();
    for (const number of [1, 2, 3]) {
      const handled = once(seen, "handled", { signal: AbortSignal.timeout(10_000) });
      await publisher.publishTo.searchReindex(reindex(number));
      assert.deepEqual(await handled, [[reindex(number)]]);
    }
    await downTwice;
    assert.equal(ups, 0);
    assert.equal(mq.health().listener, "down");
    assert.equal(warnings.filter((text) => text.includes("LISTEN is not available")).length, 1, warnings.join("\n"));
  } finally {
    await Promise.all([mq.stop(), publisher.stop()]);
  }
});
