import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { testDatabase } from "../support/database.js";

const db = await testDatabase();

async function inFlight(owner: string, rows: number): Promise<void> {
  await db.pool.query(
    "insert into postrider.node (owner, name, session_at) values ($1, $1, now()) on conflict do nothing",
    [owner],
  );
  await db.pool.query(
    `insert into postrider.queue_message_batch (queue_name, payload, status, owner, claim_token, status_heartbeat, quiet)
     select 'race', '[1]', 'processing', $1, 7, now() - interval '1 minute', true from generate_series(1, $2)`,
    [owner, rows],
  );
}

async function recoverAll(): Promise<{ calls: number; recovered: number }> {
  const client = new pg.Client(db.connectionString);
  await client.connect();
  let [calls, recovered] = [0, 0];
  for (;;) {
    const { rows } = await client.query(
      "select coalesce(sum(recovered + died), 0)::int as n from postrider.recover(true)",
    );
    calls += 1;
    recovered += rows[0].n;
    if (rows[0].n === 0) break;
  }
  await client.end();
  return { calls, recovered };
}

test("R4: of 500 batches of one dead owner and eight callers, each is recovered once, none is left", async (t) => {
  await inFlight("dead", 500);
  const callers = await Promise.all(Array.from({ length: 8 }, recoverAll));
  t.diagnostic(JSON.stringify(callers));
  assert.equal(
    callers.reduce((sum, { recovered }) => sum + recovered, 0),
    500,
  );
  const { rows } = await db.pool.query(
    "select status, crashes, count(*)::int as n from postrider.queue_message_batch group by 1, 2",
  );
  assert.deepEqual(rows, [{ status: "pending", crashes: 1, n: 500 }]);
  await db.pool.query("truncate postrider.queue_message_batch");
});

test("R3: a thousand batches of a living silent owner in front do not hide one orphan, and stay", async (t) => {
  const alive = new pg.Client(db.connectionString);
  await alive.connect();
  t.after(() => alive.end());
  await alive.query("select pg_advisory_lock_shared(7303, postrider.owner_key('alive'))");
  await inFlight("alive", 1_000);
  await inFlight("dead", 1);
  assert.equal((await recoverAll()).recovered, 1);
  const { rows } = await db.pool.query(
    "select count(*)::int as n from postrider.queue_message_batch where owner = 'alive'",
  );
  assert.equal(rows[0].n, 1_000);
});

test("R3: who never had a session, and whose session stands, is left alone; the probe leaves no lock behind", async () => {
  await db.pool.query("update postrider.node set session_at = null");
  assert.equal((await recoverAll()).recovered, 0);
  const { rows } = await db.pool.query(
    "select * from pg_locks where locktype = 'advisory' and objsubid = 2 and mode = 'ExclusiveLock'",
  );
  assert.deepEqual(rows, []);
});
