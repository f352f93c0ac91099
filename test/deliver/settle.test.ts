/** Acknowledging on a network that breaks, leases that are lost, and the fence that keeps late owners out. */
import assert from "node:assert/strict";
import test from "node:test";
import { heard, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { byApplication, startProxy } from "../support/proxy.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, deadOf, upTo } from "../support/stored.js";

const { connectionString, pool } = await testDatabase();
const listening = byApplication("postrider listen");
const pooled = byApplication("postrider");

const isGone = (queue: string) => eventually(async () => (await batchesOf(pool, queue)).length === 0);

test("D8 an acknowledgement that fails is repeated; the handler does not run again and no failure is counted", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("d8")];
  const mq = testClient(t, { queues, connectionString: proxy.connectionString, pollMs: 600_000 });
  const [failures, lost] = [heard(mq, "handlerFailed"), heard(mq, "leaseLost")];
  const failing = nextEvent(mq, "error", ({ part }) => part === "settling");
  let calls = 0;
  mq.queue("d8").listen(() => {
    calls += 1;
    proxy.refuse(pooled);
    proxy.cut(pooled);
  });
  await mq.start();
  await pool.query(`select postrider.publish('d8', '[{"n":1}]')`);
  await failing;
  await proxy.pass();
  await isGone("d8");
  assert.deepEqual([calls, failures, lost], [1, [], []]);
});

test("D8 an acknowledgement that was carried out but not answered is no lost lease", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const mq = testClient(t, {
    queues: [testQueue("d8-unheard")],
    connectionString: proxy.connectionString,
    pollMs: 600_000,
  });
  const lost = heard(mq, "leaseLost");
  let calls = 0;
  const slot = nextEvent(mq, "handled");
  mq.queue("d8-unheard").listen(() => {
    calls += 1;
  });
  await mq.start();
  const holder = await pool.connect();
  try {
    // The acknowledgement waits for the table until its connection is gone; then it is carried out all the same.
    await holder.query("begin");
    mq.on("handled", () => undefined);
    const locked = new Promise<void>((resolve) => {
      const off = mq.on("claimed", () => {
        off();
        resolve(holder.query("lock table postrider.queue_slot in access exclusive mode").then(() => undefined));
      });
    });
    await pool.query(`select postrider.publish('d8-unheard', '[{"n":1}]')`);
    await Promise.all([locked, slot]);
    const waiting = async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where datname = current_database() and query like '%.ack(%' and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    };
    // Where the acknowledgement was quicker than the lock there is nothing to see; the lock's own test is above.
    await eventually(async () => (await waiting()) || (await batchesOf(pool, "d8-unheard")).length === 0);
    proxy.cut(pooled);
    await holder.query("commit");
  } finally {
    holder.release();
  }
  await isGone("d8-unheard");
  await eventually(() => mq.health().oldestInFlightMs === undefined);
  assert.deepEqual([calls, lost], [1, []]);
});

test("D8 a partial settlement that was carried out but not answered is repeated, and buries nothing twice", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("d8-part")];
  const mq = testClient(t, { queues, connectionString: proxy.connectionString, pollMs: 600_000 });
  const [handled, lost] = [[] as unknown[], heard(mq, "leaseLost")];
  mq.queue("d8-part").listen((messages) => void handled.push(...messages));
  // The first round recovers, and would wait for the dead letters too.
  await Promise.all([nextEvent(mq, "polled"), mq.start()]);
  const failing = nextEvent(mq, "error", ({ part }) => part === "settling");
  const holder = await pool.connect();
  try {
    await holder.query("begin");
    await holder.query("lock table postrider.dead_message_batch in access exclusive mode");
    await pool.query(`select postrider.publish('d8-part', '[{"n":1},{"n":"no number"}]')`);
    await eventually(async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where datname = current_database() and query like '%.settle_part(%' and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    proxy.cut(pooled);
    await failing;
    await holder.query("commit");
  } finally {
    holder.release();
  }
  await isGone("d8-part");
  assert.deepEqual([handled, lost], [[{ n: 1 }], []]);
  assert.deepEqual(
    (await deadOf(pool, "d8-part")).map(({ positions }) => positions),
    [[1]],
  );
});

test("R1 a lease that is taken over aborts the handler's signal, is counted once, and the late owner changes nothing", async (t) => {
  const queues = [testQueue("r1", { orphanAfterMs: 1_100 })];
  const mq = testClient(t, { queues, connectionString, pollMs: 600_000, heartbeatMs: 20 });
  const lost = heard(mq, "leaseLost");
  const handled = nextEvent(mq, "handled");
  mq.queue("r1").listen(async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw new Error("too late");
  });
  await mq.start();
  await Promise.all([mq.queue("r1").publish({ n: 1 }), nextEvent(mq, "claimed")]);
  await pool.query(
    "update postrider.queue_message_batch set claim_token = 1, owner = 'another' where queue_name = 'r1'",
  );
  await handled;
  await mq.stop();
  const [row] = await batchesOf(pool, "r1");
  assert.deepEqual([row?.owner, row?.status, row?.failures], ["another", "processing", 0]);
  assert.equal(lost.length, 1);
});

test("R1 a lease that this same node takes over is lost all the same: the late call's signal aborts, the new one's does not", async (t) => {
  const queues = [testQueue("r1-itself", { orphanAfterMs: 8_000 })];
  // Seldom enough that the batch is claimed again before a heartbeat could have found it gone.
  const mq = testClient(t, { queues, connectionString, pollMs: 600_000, heartbeatMs: 800 });
  const lost = heard(mq, "leaseLost");
  const calls: AbortSignal[] = [];
  let end = (): void => undefined;
  const ending = new Promise<void>((resolve) => {
    end = resolve;
  });
  mq.queue("r1-itself").listen(
    async (_, { signal }) => {
      calls.push(signal);
      await ending;
    },
    { concurrency: 2 },
  );
  await mq.start();
  await Promise.all([mq.queue("r1-itself").publish({ n: 1 }), nextEvent(mq, "claimed")]);
  // As recovery leaves it, and the next to look is the node that had it.
  await pool.query(
    `update postrider.queue_message_batch set status = 'pending', crashes = 1, owner = null, claim_token = null,
            status_heartbeat = null where queue_name = 'r1-itself'`,
  );
  await Promise.all([mq.queue("r1-itself").publish({ n: 2 }), nextEvent(mq, "claimed")]);
  await eventually(() => calls[0]?.aborted === true);
  assert.deepEqual([lost.length, calls.length, calls[1]?.aborted], [1, 2, false]);
  end();
  await isGone("r1-itself");
});

test("R1 also the acknowledgement of a late owner finds nothing, and says so", async (t) => {
  const mq = testClient(t, { queues: [testQueue("r1-ack")], connectionString, pollMs: 600_000 });
  const lost = heard(mq, "leaseLost");
  mq.queue("r1-ack").listen(async () => {
    await pool.query("update postrider.queue_message_batch set claim_token = 1 where queue_name = 'r1-ack'");
  });
  await mq.start();
  await mq.queue("r1-ack").publish({ n: 1 });
  await eventually(() => lost.length === 1);
  assert.equal((await batchesOf(pool, "r1-ack"))[0]?.status, "processing");
});

test("R2 heartbeats keep a long handler's batch, over the LISTEN session or, where that is silent, over the pool", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("r2", { orphanAfterMs: 4_000 })];
  const options = { queues, connectionString: proxy.connectionString, pollMs: 600_000, heartbeatMs: 200 };
  const mq = testClient(t, options);
  let aborted = false;
  let end: () => void = () => undefined;
  mq.queue("r2").listen(
    (_, { signal }) =>
      new Promise<void>((resolve) => {
        end = resolve;
        signal.addEventListener("abort", () => {
          aborted = true;
        });
      }),
  );
  await mq.start();
  await Promise.all([mq.queue("r2").publish({ n: 1 }), nextEvent(mq, "claimed")]);
  const beats = async () => {
    const { rows } = await pool.query(
      "select status_heartbeat as at from postrider.queue_message_batch where queue_name = 'r2'",
    );
    return new Date(rows[0]?.at).getTime();
  };
  for (const silent of [false, true]) {
    if (silent) proxy.drop(listening);
    const from = await beats();
    await eventually(async () => (await beats()) > from + 600);
  }
  assert.equal(aborted, false);
  await proxy.pass();
  end();
  await isGone("r2");
});

test("R3 a node cut off from the database aborts its handlers, at no attempt", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("fenced", { orphanAfterMs: 3_000 })];
  const mq = testClient(t, { queues, connectionString: proxy.connectionString, pollMs: 600_000, heartbeatMs: 900 });
  const fenced = new Promise<void>((resolve) => {
    let calls = 0;
    mq.queue("fenced").listen(async (_, { signal, attempt }) => {
      calls += 1;
      assert.equal(attempt, 1);
      if (calls > 1) return;
      await new Promise((aborted) => signal.addEventListener("abort", aborted, { once: true }));
      resolve();
      throw signal.reason;
    });
  });
  await mq.start();
  await Promise.all([pool.query(`select postrider.publish('fenced', '[{"n":1}]')`), nextEvent(mq, "claimed")]);
  await proxy.close();
  proxy.cut();
  await fenced;
  await nextEvent(mq, "handled", ({ status }) => status === "released");
  await proxy.pass();
  await isGone("fenced");
});

test("a claim whose answer was lost does not stay with a node that never heard of it", {
  timeout: 60_000,
}, async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const mq = testClient(t, {
    queues: [testQueue("unheard")],
    connectionString: proxy.connectionString,
    pollMs: 600_000,
  });
  let delivered = 0;
  mq.queue("unheard").listen(() => {
    delivered += 1;
  });
  await mq.start();
  const claimWaits = async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity
        where datname = current_database() and query like '%.poll(%' and wait_event_type = 'Lock'`,
    );
    return rowCount === 1;
  };
  const holder = await pool.connect();
  try {
    await holder.query("begin; lock table postrider.queue_slot in access exclusive mode");
    await pool.query(`select postrider.publish('unheard', '[{"n":1}]')`);
    await eventually(claimWaits);
    const failed = nextEvent(mq, "error", ({ part }) => part === "poller");
    proxy.cut(pooled);
    await failed;
    // First in line for the lock is the claim that nobody listens to any more.
    await holder.query("commit");
  } finally {
    holder.release();
  }
  await isGone("unheard");
  assert.equal(delivered, 1);
});

test("R2 many acknowledgements share statements, and each batch is acknowledged once", async (t) => {
  const mq = testClient(t, {
    queues: [testQueue("grouped", { concurrency: 200, maxBatchMessages: 1 })],
    connectionString,
    pollMs: 600_000,
  });
  const lost = heard(mq, "leaseLost");
  let calls = 0;
  mq.queue("grouped").listen(() => {
    calls += 1;
  });
  await mq.start();
  await Promise.all(upTo(400).map((n) => mq.queue("grouped").publish({ n }, { alone: true })));
  await isGone("grouped");
  assert.deepEqual([calls, lost], [400, []]);
});
