/** Q3: the registry keeps every version that something may still need, and no other. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import { Subject } from "../../src/testing/testing.js";
import { testDatabase } from "../support/database.js";
import { type Session, sessions } from "./sessions.js";

const { pool, connectionString } = await testDatabase();
const queue = "q";

async function register(version: number): Promise<void> {
  const backend = new PostgresBackend({ connectionString });
  await backend.register([new Subject(backend).definition(queue, { version })], "a node");
  await backend.close();
}

/** As after a week in which no node started. */
const aWeekLater = () => pool.query("update postrider.queue_version set registered_at = now() - interval '8 days'");

async function prune(): Promise<number[]> {
  await pool.query("select postrider.prune()");
  const { rows } = await pool.query("select version from postrider.queue_version order by version");
  return rows.map(({ version }) => version);
}

async function insert(version: number, rows = 1): Promise<void> {
  await pool.query(
    `insert into postrider.queue_message_batch (queue_name, version, payload, quiet)
     select $1, $2, '[1]', true from generate_series(1, $3)`,
    [queue, version, rows],
  );
}

beforeEach(async () => {
  await pool.query(
    "truncate postrider.queue, postrider.queue_version, postrider.node, postrider.queue_message_batch, postrider.dead_message_batch",
  );
  for (const version of [1, 2, 3]) await register(version);
});

test("Q3: within a week of its last registration a version stays; after that only the newest, when nothing needs the others", async () => {
  assert.deepEqual(await prune(), [1, 2, 3]);
  await aWeekLater();
  await register(2);
  assert.deepEqual(await prune(), [2, 3]);
  await aWeekLater();
  assert.deepEqual(await prune(), [3]);
});

test("Q3: a version with a batch waiting, in flight or dead stays until that is gone", async () => {
  await aWeekLater();
  await insert(1);
  assert.deepEqual(await prune(), [1, 3]);
  const { rows } = await pool.query("select * from postrider.claim('{q}', '{1}', '{3}', 'n')");
  assert.deepEqual(await prune(), [1, 3]);
  const lease = [[queue], [rows[0].id], [rows[0].claim_token]];
  await pool.query("select postrider.dead_letter($1, $2, $3, '{rejected}', '{e}')", lease);
  assert.deepEqual(await prune(), [1, 3]);
  await pool.query("delete from postrider.dead_message_batch");
  assert.deepEqual(await prune(), [3]);
});

test("Q3: a version that a living node knows stays, for it may publish", async () => {
  await aWeekLater();
  await pool.query("select postrider.note_node('me', 'me', '{\"q\": 2}')");
  assert.deepEqual(await prune(), [2, 3]);
  await pool.query("select postrider.note_node('me', 'me', null)");
  assert.deepEqual(await prune(), [3]);
});

test("Q3: a queue with more batches than are looked through keeps its versions", async () => {
  await aWeekLater();
  await insert(3, 1_000);
  assert.deepEqual(await prune(), [1, 2, 3]);
  await pool.query(
    "delete from postrider.queue_message_batch where id = (select min(id) from postrider.queue_message_batch)",
  );
  assert.deepEqual(await prune(), [3]);
});

test("Q3: a registration under way keeps its version, and one that comes late records it anew", async (t) => {
  await aWeekLater();
  const [starting, pruning] = (await sessions(t, connectionString, 2)) as [Session, Session];
  const definition = JSON.stringify({
    name: queue,
    version: 2,
    schemaHash: "0".repeat(64),
    schema: "{}",
    settings: {},
  });
  await starting.ask("begin");
  await starting.ask("select postrider.register_queue($1, 'a node')", [definition]);
  await pruning.ask("begin");
  await pruning.ask("select postrider.prune()");
  await starting.ask("commit");
  await pruning.ask("commit");
  assert.deepEqual(await prune(), [2, 3]);
  await aWeekLater();
  await pruning.ask("begin");
  await pruning.ask("select postrider.prune()");
  const registered = starting.ask("select postrider.register_queue($1, 'a node')", [definition]);
  await starting.waits();
  await pruning.ask("commit");
  await registered;
  assert.deepEqual(await prune(), [2, 3]);
});
