/** P3: an answered publish survives a crash of the server, though its row is visible before it is flushed (insert_one). */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import pg from "pg";
import { migrate } from "../../src/backend/postgres/migrate.js";
import { startEmbeddedPostgres } from "../../src/embedded/embedded.js";
import { testClient } from "../support/client.js";
import { testQueue } from "../support/queue-definition.js";
import { batchesOf, numbersOf } from "../support/stored.js";

async function poolOf(t: TestContext, connectionString: string): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString });
  pool.on("error", () => undefined);
  t.after(() => pool.end());
  return pool;
}

/** SIGKILL for the postmaster and everything it started: what only lies in the server's memory is gone. */
function killServer(postmaster: number): void {
  const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(postmaster)], { encoding: "utf8" });
  for (const pid of [postmaster, ...children.trim().split(/\s+/).map(Number)]) process.kill(pid, "SIGKILL");
}

test("P3: what was answered is there after the server was killed", { timeout: 60_000 }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "postrider-killed-"));
  t.after(() => rm(directory, { recursive: true }));
  const killed = await startEmbeddedPostgres({ directory });
  t.after(() => killed.stop());
  await migrate({ database: { connectionString: killed.connectionString } });
  const before = await poolOf(t, killed.connectionString);
  // Else the server's own log writer flushes, within 200 ms, what nobody waited for.
  await before.query("alter system set wal_writer_delay = '10s'");
  await before.query("select pg_reload_conf()");
  const { rows } = await before.query<{ data_directory: string }>("show data_directory");
  const pidFile = await readFile(join(rows[0]?.data_directory as string, "postmaster.pid"), "utf8");

  const mq = testClient(t, { connectionString: killed.connectionString, queues: [testQueue("q")] });
  await mq.queue("q").publish({ n: 1 });
  await mq.queue("q").publish({ n: 2 });
  killServer(Number.parseInt(pidFile, 10));

  await killed.stop();
  const restarted = await startEmbeddedPostgres({ directory });
  t.after(() => restarted.stop());
  const after = await poolOf(t, restarted.connectionString);
  assert.deepEqual(numbersOf(await batchesOf(after, "q")), [1, 2]);
});
