/** Real processes on one database: woken across nodes, killed, stopped, frozen. */
import assert from "node:assert/strict";
import test from "node:test";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { type ProcessMessage, startProcess, type TestProcess } from "../support/processes.js";
import { byApplication, startProxy } from "../support/proxy.js";
import { batchesOf, upTo } from "../support/stored.js";
import type { WorkerSettings } from "./worker-process.js";

const { connectionString, pool } = await testDatabase();
const workerFile = new URL("./worker-process.ts", import.meta.url);
const publisherFile = new URL("./publisher-process.ts", import.meta.url);

async function startWorker(
  t: test.TestContext,
  settings: Partial<WorkerSettings> & { queue: string },
): Promise<TestProcess> {
  const worker = startProcess(workerFile, { args: [JSON.stringify({ connectionString, ...settings })] });
  t.after(async () => void (await worker.kill()));
  await worker.waitFor("started");
  return worker;
}

const said = (worker: TestProcess, name: string): readonly ProcessMessage[] =>
  worker.messages.filter((message) => message.name === name);

/** How many nodes hold SLEEP. */
async function sleepers(): Promise<number> {
  const { rows } = await pool.query(
    `select distinct l.pid from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.classid = 7302 and l.granted and a.datname = current_database()`,
  );
  return rows.length;
}

/** Each has looked, taken SLEEP and looked once more: only after that second look does it rely on being notified. */
const asleep = (workers: readonly TestProcess[]) =>
  eventually(
    async () => {
      if (workers.some((worker) => said(worker, "looked").length < 2)) return false;
      return (await sleepers()) === workers.length;
    },
    { otherwise: "the workers never fell asleep" },
  );

const isEmpty = (queue: string) =>
  eventually(async () => (await batchesOf(pool, queue)).length === 0, {
    otherwise: `${queue} is not empty`,
  });

/** Publishes one batch of one message through SQL, `count` times. */
async function publish(queue: string, count = 1): Promise<void> {
  await pool.query(`select postrider.publish($1, format('[{"n":%s}]', n)) from generate_series(0, $2 - 1) n`, [
    queue,
    count,
  ]);
}

test("W1 a third process's publish wakes idle workers by notification", {
  timeout: 60_000,
}, async (t) => {
  const queue = "woken";
  const workers = await Promise.all([startWorker(t, { queue }), startWorker(t, { queue })]);
  await asleep(workers);
  const publisher = startProcess(publisherFile, { args: [connectionString, queue, "60", "40"] });
  t.after(async () => void (await publisher.kill()));
  const { code } = await publisher.ended;
  assert.equal(code, 0, "M4 a publisher without start() ends by itself");
  await isEmpty(queue);
  const sources = workers.flatMap((worker) => said(worker, "woken").map(({ source }) => source));
  // A look at a slot that has just become free may find the next message first, on a machine that is slow enough.
  assert.ok(
    sources.every((source) => source === "notify" || source === "slot"),
    sources.join(),
  );
  assert.ok(sources.filter((source) => source === "notify").length >= 45, sources.join());
  const published = new Map(said(publisher, "published").map(({ n, at }) => [n, at as number]));
  const latencies = workers
    .flatMap((worker) => said(worker, "handling"))
    .map(({ numbers, at }) => (at as number) - (published.get((numbers as number[])[0]) ?? 0))
    .sort((a, b) => a - b);
  assert.equal(latencies.length, 60);
  const [p50, worst] = [latencies[30], latencies.at(-1)].map((ms) => ms?.toFixed(2));
  // How fast it is, bench/ measures.
  t.diagnostic(`publish call to handler, across processes: p50 ${p50} ms, worst ${worst} ms`);
  assert.deepEqual(
    workers.flatMap((worker) => said(worker, "warning")),
    [],
  );
});

test("P16, W1 plain SQL wakes the workers, on all nodes", async (t) => {
  const queue = "by-sql";
  const settings = { queue, handlerMs: 60_000, options: { maxBatchMessages: 1 } };
  const workers = await Promise.all([startWorker(t, settings), startWorker(t, settings)]);
  await asleep(workers);
  await publish(queue, 2);
  for (const worker of workers) assert.equal((await worker.waitFor("woken")).source, "notify");
});

test("W2 without LISTEN the poll interval brings everything, and the log says so once", {
  timeout: 60_000,
}, async (t) => {
  const queue = "deaf";
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  proxy.refuse(byApplication("postrider listen"));
  const pollMs = 700;
  const worker = await startWorker(t, { queue, pollMs, connectionString: proxy.connectionString });
  for (let turn = 0; turn < 4; turn += 1) {
    // The slot that is freed looks once more; after that only the poll interval finds anything.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await publish(queue);
    await worker.waitFor("handled");
  }
  const sources = said(worker, "woken").map(({ source }) => source);
  assert.ok(
    sources.every((source) => source === "poll" || source === "slot"),
    sources.join(),
  );
  worker.send({ name: "log" });
  const { lines } = await worker.waitFor("log");
  assert.equal((lines as string[]).filter((line) => line.includes("LISTEN is not available")).length, 1);
});

test("R3 kill -9 in the middle: its batches run on the other node long before they are stale, and spend no attempt", {
  timeout: 60_000,
}, async (t) => {
  const queue = "killed";
  const [orphanAfterMs, pollMs] = [3_000, 1_000];
  const settings = { queue, pollMs, options: { orphanAfterMs, concurrency: 5, maxBatchMessages: 1 } };
  const victim = await startWorker(t, { ...settings, handlerMs: 600_000 });
  await publish(queue, 5);
  for (let n = 0; n < 5; n += 1) await victim.waitFor("handling");
  const other = await startWorker(t, settings);
  // Only a node whose own session has stood for a while looks for orphans.
  await new Promise((resolve) => setTimeout(resolve, orphanAfterMs));
  await victim.kill();
  // Stale they would be after ten minutes. How soon an orphan is found, bench/ measures.
  for (let n = 0; n < 5; n += 1) assert.equal((await other.waitFor("handling")).attempt, 1);
  assert.deepEqual(
    said(other, "recovered").map(({ reason }) => reason),
    upTo(said(other, "recovered").length).map(() => "orphan"),
  );
  await isEmpty(queue);
});

test("D3 kill -9 in the middle of an each call: what had ended by the last heartbeat does not run again", {
  timeout: 60_000,
}, async (t) => {
  const queue = "killed-each";
  const settings = { queue, pollMs: 500, heartbeatMs: 200, eachButEndless: 3, options: { orphanAfterMs: 2_000 } };
  const victim = await startWorker(t, settings);
  await pool.query("select postrider.publish($1, $2)", [queue, JSON.stringify(upTo(5).map((n) => ({ n })))]);
  await eventually(async () => (await batchesOf(pool, queue))[0]?.message_count === 2);
  assert.deepEqual(
    said(victim, "handling").map(({ numbers }) => numbers),
    [[0], [1], [2], [3]],
  );
  await victim.kill();
  const other = await startWorker(t, { ...settings, eachButEndless: 0 });
  assert.deepEqual((await other.waitFor("handling")).numbers, [3]);
  assert.deepEqual((await other.waitFor("handling")).numbers, [4]);
  await isEmpty(queue);
});

for (const [ending, signal] of [
  ["is killed", "SIGKILL"],
  ["stops", "SIGTERM"],
] as const) {
  test(`P14 what a node retried that then ${ending} fires in time on another one, however long that one's pollMs`, {
    timeout: 60_000,
  }, async (t) => {
    const queue = `retried-${signal.toLowerCase()}`;
    const waitMs = 2_000;
    const backoff = { initialMs: waitMs, factor: 1, maxMs: waitMs, jitter: 0 };
    const settings = { queue, pollMs: 60_000, fails: true, options: { backoff } };
    const workers = await Promise.all([startWorker(t, settings), startWorker(t, settings)]);
    await asleep(workers);
    await publish(queue);
    const [first, other] = await Promise.any(
      workers.map(async (worker, index) => {
        await worker.waitFor("retried");
        return [worker, workers[1 - index]] as [TestProcess, TestProcess];
      }),
    );
    const [row] = await batchesOf(pool, queue);
    await first.kill(signal);
    const { attempt } = await other.waitFor("handling");
    assert.equal(attempt, 2);
    const { rows } = await pool.query("select extract(epoch from clock_timestamp() - $1) * 1000 as late", [
      row?.available_at,
    ]);
    t.diagnostic(`${rows[0].late} ms after it was due`);
    assert.ok(rows[0].late >= 0 && rows[0].late < 40_000, `${rows[0].late} ms late, where the poll comes after 48 s`);
  });
}

test("R3 a node whose handler blocks its event loop is not run twice", { timeout: 60_000 }, async (t) => {
  const queue = "frozen-alive";
  const settings = { queue, pollMs: 500, options: { orphanAfterMs: 3_000 } };
  const frozen = await startWorker(t, { ...settings, handlerMs: 600_000 });
  await publish(queue);
  await frozen.waitFor("handling");
  const other = await startWorker(t, settings);
  frozen.signal("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  assert.deepEqual(said(other, "handling"), []);
  frozen.signal("SIGCONT");
  frozen.send({ name: "end" });
  await isEmpty(queue);
});

test("R1 an owner that was frozen past staleAfterMs changes nothing when it goes on", {
  timeout: 60_000,
}, async (t) => {
  const queue = "late-owner";
  const settings = { queue, pollMs: 500, options: { orphanAfterMs: 3_000, staleAfterMs: 3_000 }, handlerMs: 600_000 };
  const frozen = await startWorker(t, settings);
  await publish(queue);
  await frozen.waitFor("handling");
  frozen.signal("SIGSTOP");
  const other = await startWorker(t, settings);
  const { attempt } = await other.waitFor("handling");
  assert.equal(attempt, 1);
  const [before] = await batchesOf(pool, queue);
  frozen.signal("SIGCONT");
  await frozen.waitFor("leaseLost");
  frozen.send({ name: "end" });
  await frozen.waitFor("handled");
  assert.equal((await frozen.kill("SIGTERM")).code, 0);
  const [after] = await batchesOf(pool, queue);
  assert.deepEqual([after?.owner, after?.crashes, after?.failures], [before?.owner, 1, 0]);
  other.send({ name: "end" });
  await isEmpty(queue);
});

test("M5, I1 SIGTERM with handlers running: all acknowledged, nothing left open, exit 0", {
  timeout: 60_000,
}, async (t) => {
  const queue = "sigterm";
  const worker = await startWorker(t, { queue, handlerMs: 600, options: { concurrency: 5, maxBatchMessages: 1 } });
  await publish(queue, 8);
  for (let n = 0; n < 5; n += 1) await worker.waitFor("handling");
  const { code, signal } = await worker.kill("SIGTERM");
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, worker.output());
  const left = await batchesOf(pool, queue);
  assert.deepEqual(
    left.map(({ status, failures, crashes }) => [status, failures, crashes]),
    upTo(3).map(() => ["pending", 0, 0]),
  );
});

test("M5 a second SIGTERM releases at once, with no attempt spent", { timeout: 60_000 }, async (t) => {
  const queue = "sigterm-twice";
  const options = { concurrency: 2 };
  const worker = await startWorker(t, { queue, handlerMs: 600_000, stopWithinMs: 600_000, options });
  await publish(queue);
  await worker.waitFor("handling");
  await eventually(async () => (await sleepers()) === 1);
  worker.signal("SIGTERM");
  // The first has been heard when the node looks for no new work, although it has a free slot.
  await eventually(async () => (await sleepers()) === 0);
  const { code } = await worker.kill("SIGTERM");
  assert.equal(code, 0);
  const [row] = await batchesOf(pool, queue);
  assert.deepEqual([row?.status, row?.failures, row?.crashes], ["pending", 0, 0]);
});
