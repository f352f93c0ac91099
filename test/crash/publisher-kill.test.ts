/**
 * `kill -9` of a publisher at random moments: P3 and T1. 20 times, or as `POSTRIDER_CRASH_ROUNDS` says:
 *
 *   POSTRIDER_CRASH_ROUNDS=200 npm test -- test/crash/publisher-kill --timeout=1200000
 */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { setTimeout as randomMoment } from "node:timers/promises";
import type pg from "pg";
import { testDatabase } from "../support/database.js";
import { startProcess } from "../support/processes.js";

const { connectionString, pool } = await testDatabase();
const folder = await mkdtemp(join(tmpdir(), "postrider-crash-"));
after(() => rm(folder, { recursive: true }));
const rounds = Number(process.env.POSTRIDER_CRASH_ROUNDS ?? 20);

interface Message {
  readonly n: number;
  readonly key?: string;
}

async function stored(database: pg.Pool, queue: string): Promise<readonly Message[]> {
  const { rows } = await database.query<{ payload: string }>(
    "select payload from postrider.queue_message_batch where queue_name = $1 order by id",
    [queue],
  );
  return rows.flatMap(({ payload }) => JSON.parse(payload) as Message[]);
}

function noted(notes: string, kind: string): readonly number[] {
  // The last line may be cut off by the kill: without its end of line it is none.
  const lines = notes.slice(0, notes.lastIndexOf("\n") + 1).split("\n");
  return lines.filter((line) => line.startsWith(`${kind} `)).map((line) => Number(line.slice(kind.length + 1)));
}

test(`P3, T1: killed ${rounds} times, every promise is kept and nothing rolled back is there`, {
  timeout: 60_000 + rounds * 5_000,
}, async (t) => {
  const promises = { alone: 0, together: 0, never: 0 };
  for (let round = 1; round <= rounds; round += 1) {
    const notesPath = join(folder, `${round}`);
    const publisher = startProcess(new URL("publisher-node.ts", import.meta.url), {
      args: [connectionString, notesPath, String(round)],
    });
    await publisher.waitFor("publishing");
    const afterMs = Math.random() * 400;
    await randomMoment(afterMs);
    assert.equal((await publisher.kill()).signal, "SIGKILL", publisher.output());

    // What was promised is committed by now; what its sessions still commit would change under the reading.
    await sessionsGone(pool);
    const notes = await readFile(notesPath, "utf8");
    const where = `round ${round}, killed ${afterMs.toFixed(1)} ms after its first message`;
    const [alone, together, too] = await Promise.all(
      ["alone", "together", "together-too"].map((queue) => stored(pool, queue)),
    );
    checkRound({ where, notes, alone, together, too } as Round);
    for (const kind of ["alone", "together", "never"] as const) promises[kind] += noted(notes, kind).length;
    await pool.query("truncate postrider.queue_message_batch");
  }
  t.diagnostic(`promises kept: ${JSON.stringify(promises)}`);
  assert.ok(
    Object.values(promises).every((count) => count > rounds),
    JSON.stringify(promises),
  );
});

interface Round {
  readonly where: string;
  readonly notes: string;
  readonly alone: readonly Message[];
  readonly together: readonly Message[];
  readonly too: readonly Message[];
}

function checkRound({ where, notes, alone, together, too }: Round): void {
  const present = new Set(alone.map(({ n }) => n));
  const lost = noted(notes, "alone").filter((n) => !present.has(n));
  assert.deepEqual(lost, [], `${where}: promised and lost`);
  assert.equal(present.size, alone.length, `${where}: stored twice`);

  const keys = new Map<number, string[]>();
  for (const { n, key = "" } of [...together, ...too]) keys.set(n, [...(keys.get(n) ?? []), key]);
  for (const n of noted(notes, "together")) {
    assert.deepEqual(keys.get(n)?.sort(), [`${n}`, `${n}-2`, `${n}-3`], `${where}: transaction ${n} was promised`);
  }
  for (const n of noted(notes, "never")) assert.equal(keys.has(n), false, `${where}: transaction ${n} rolled back`);
  // Also of those that nobody was promised: all or nothing, and nothing of the savepoint.
  for (const [n, all] of keys) {
    assert.deepEqual(all.sort(), [`${n}`, `${n}-2`, `${n}-3`], `${where}: transaction ${n} is there in part`);
  }
}

async function sessionsGone(database: pg.Pool): Promise<void> {
  await database.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = 'postrider'`,
  );
}
