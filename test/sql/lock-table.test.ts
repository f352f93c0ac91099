/** Advisory locks fit into the lock table of a server as it comes: a lock per queue name would not (64 keys do). */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import pg from "pg";
import { migrate } from "../../src/backend/postgres/migrate.js";
import { startEmbeddedPostgres } from "../../src/embedded/embedded.js";
import { databaseUrl } from "../support/test-server.js";

test("W6: ninety nodes asleep on a thousand queues each, all publishing to them: no out of shared memory", async (t) => {
  const directory = join(import.meta.dirname, "..", "..", ".postrider", "test-stock");
  const server = await startEmbeddedPostgres({
    directory,
    settings: { max_connections: 100, max_locks_per_transaction: 64 },
  });
  t.after(() => server.stop());
  const admin = new pg.Client(server.connectionString);
  await admin.connect();
  // The server's data outlives the run, and with it an older text of the migrations.
  await admin.query("drop database if exists lock_table with (force)");
  await admin.query("create database lock_table");
  await admin.end();
  const connectionString = databaseUrl(server.connectionString, "lock_table");
  await migrate({ database: { connectionString }, schema: "lock table" });
  const nodes: pg.Client[] = [];
  const connect = async () => {
    const client = new pg.Client(connectionString);
    await client.connect();
    nodes.push(client);
    return client;
  };
  try {
    for (let node = 0; node < 90; node += 1) {
      const queues = Array.from({ length: 1_000 }, (_, index) => `queue ${node}.${index}`);
      // Asleep, and with a publishing transaction that stays open: what a node's two sessions hold, held by one.
      const client = await connect();
      await client.query('select "lock table".fall_asleep($1)', [queues]);
      await client.query("begin");
      await client.query('select "lock table".announce($1)', [queues]);
    }
    const last = await connect();
    await last.query(
      `insert into "lock table".queue_message_batch (queue_name, payload) select 'queue ' || n, '[]' from generate_series(1, 1000) n`,
    );
    const { rows } = await last.query(
      "select count(*)::int as held, count(distinct (classid, objid))::int as keys from pg_locks where locktype = 'advisory'",
    );
    t.diagnostic(JSON.stringify(rows[0]));
    assert.ok(rows[0].keys <= 128);
  } finally {
    await Promise.all(nodes.map((client) => client.end()));
  }
});
