/**
 * J4 under kill -9: every step of every chain runs, in order, none is lost, none is handed over twice. 40 chains here;
 * `POSTRIDER_CHAINS=500` for as many as one likes.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chainKey } from "../../src/chain/chain.js";
import { testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { startProcess, type TestProcess } from "../support/processes.js";
import { chainQueues } from "./chain-queues.js";

const { connectionString, pool } = await testDatabase();
const chains = Number(process.env.POSTRIDER_CHAINS ?? 40);
const workers = 3;

async function startWorker(): Promise<TestProcess> {
  const worker = startProcess(new URL("./chain-worker.ts", import.meta.url), { args: [connectionString, "500"] });
  await worker.waitFor("started");
  return worker;
}

test(`J4 ${chains} chains of five steps, while workers are killed at random`, { timeout: 900_000 }, async (t) => {
  await pool.query("create table step_run (seq bigserial, chain int, step int, message_id text)");
  const mq = testClient(t, { queues: chainQueues, connectionString, heartbeatMs: 250 });
  const running = await Promise.all(Array.from({ length: workers }, startWorker));
  t.after(async () => void (await Promise.all(running.map((worker) => worker.kill()))));
  const started = Array.from({ length: chains }, (_, n) => {
    return mq.chain(chainQueues.map(({ name }) => mq.queue(name).publish.step({ n })));
  });
  const keys = (await Promise.all(started)).map(({ chainId }) => chainKey(chainId));
  let kills = 0;
  const unfinished = async () => {
    const finished = "select count(*)::int as n from postrider.progress where key = any ($1) and state = 'finished'";
    return chains - ((await pool.query<{ n: number }>(finished, [keys])).rows[0]?.n ?? 0);
  };
  for (let left = chains, last = ""; left > 0; left = await unfinished()) {
    const { rows } = await pool.query("select count(*) as n, max(seq) as seq from step_run");
    assert.ok(!t.signal.aborted, `stuck with ${left} unfinished: ${last} ${JSON.stringify(rows)}`);
    last = JSON.stringify(rows);
    // Somewhere in a step, a hand-over, a claim. Not so often that nobody lives long enough to look for orphans.
    await sleep(300 + Math.random() * 900);
    const victim = Math.floor(Math.random() * workers);
    await running[victim]?.kill();
    kills += 1;
    running[victim] = await startWorker();
  }
  const { rows: runs } = await pool.query<{ chain: number; step: number; ids: number; runs: number; first: string }>(
    `select chain, step, count(distinct message_id)::int as ids, count(*)::int as runs, min(seq) as first
       from step_run group by chain, step order by chain, step`,
  );
  assert.equal(runs.length, chains * chainQueues.length, "every step of every chain has run");
  assert.deepEqual(
    runs.filter(({ ids }) => ids > 1),
    [],
    "no step was handed over twice",
  );
  const disordered = runs.filter(({ chain, first }, index) => {
    const before = runs[index - 1];
    return before?.chain === chain && Number(before.first) > Number(first);
  });
  assert.deepEqual(disordered, []);
  const { rows: left } = await pool.query("select queue_name, status from postrider.queue_message_batch");
  assert.deepEqual(left, []);
  const again = runs.reduce((sum, { runs }) => sum + runs - 1, 0);
  t.diagnostic(`${kills} kills; ${again} of ${runs.length} steps ran again`);
});
