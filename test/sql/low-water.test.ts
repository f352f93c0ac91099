/** Behind an old snapshot nothing removes the entries of batches that are done; a mark makes a claim begin after them. */
import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import type { Batch } from "../../src/batch/batch.js";
import { LowWater } from "../../src/poll/low-water.js";
import { testDatabase } from "../support/database.js";

const db = await testDatabase();
const doneRows = 30_000;

async function claimReads(client: pg.Client, mark: string | undefined): Promise<number> {
  await client.query("begin");
  const marks = mark === undefined ? [[], [], []] : [["q"], [100], [mark]];
  const { rows } = await client.query(
    "explain (analyze, buffers, timing off, format json) select * from postrider.claim('{q}', '{10}', '{1}', 'n', 1000000, $1, $2, $3)",
    marks,
  );
  await client.query("rollback");
  const { Plan: plan } = rows[0]["QUERY PLAN"][0];
  assert.equal(plan["Actual Rows"], 10);
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
}

test("D1: a claim of ten behind 30,000 batches done under an old snapshot reads a fifth with a mark", async (t) => {
  const old = new pg.Client(db.connectionString);
  const client = new pg.Client(db.connectionString);
  await Promise.all([old.connect(), client.connect()]);
  t.after(() => Promise.all([old.end(), client.end()]));
  await old.query("begin isolation level repeatable read");
  await old.query("select 1");
  await client.query(
    "insert into postrider.queue_message_batch (queue_name, payload, quiet) select 'q', '[1]', true from generate_series(1, $1)",
    [doneRows + 100],
  );
  await client.query("delete from postrider.queue_message_batch where id <= $1", [doneRows]);
  await claimReads(client, undefined);
  const [without, beneath] = [await claimReads(client, undefined), await claimReads(client, String(doneRows - 1_000))];
  const [withMark] = [await claimReads(client, String(doneRows))];
  t.diagnostic(JSON.stringify({ without, beneath, withMark }));
  assert.ok(withMark < 300, `with a mark: ${withMark}`);
  assert.ok(without > 5 * withMark, `without: ${without}`);
});

test("D1: what has just come back is found below the mark, by the round that brought it", async () => {
  const { pool } = db;
  const { rows } = await pool.query(
    `insert into postrider.queue_message_batch (queue_name, payload, quiet, status, available_at)
     values ('back', '[1]', true, 'delayed', now()) returning id`,
  );
  const found = await pool.query(
    "select id from postrider.poll('{back}', '{1}', '{1}', 'n', 1000, '{back}', '{100}', $1, true, false, false, false, false)",
    [[String(Number(rows[0].id) + 1)]],
  );
  assert.equal(found.rows[0]?.id, rows[0].id);
});

const claimed = (id: string, priority = 100) => ({ queue: "q", priority, id }) as Batch;
const found = (scanMs: number, ...batches: Batch[]) => ({ batches, recovered: [], publishing: false, scanMs });

function look(water: LowWater, now: number, scanMs: number, ...batches: Batch[]) {
  const marks = water.marks(["q"], now);
  water.note(found(scanMs, ...batches), { queues: ["q"], marks, now });
  return marks.map(({ priority, fromId }) => [priority, fromId]);
}

test("a mark is the smallest id claimed two seconds ago, per priority, once full looks are dear", () => {
  const water = new LowWater();
  assert.deepEqual(look(water, 0, 1, claimed("99"), claimed("1000")), []);
  assert.deepEqual(look(water, 500, 1, claimed("1001"), claimed("7", 1)), []);
  assert.deepEqual(look(water, 3_000, 1), [], "a full look costs one millisecond");
  look(water, 3_500, 100);
  assert.deepEqual(look(water, 3_600, 1, claimed("2000")), [
    [100, "99"],
    [1, "7"],
  ]);
  assert.equal(water.fullDueInMs(3_600), 4_900);
  assert.deepEqual(look(water, 8_400, 1), [
    [100, "2000"],
    [1, "7"],
  ]);
  assert.deepEqual(look(water, 8_500, 100), [], "a full look was due after fifty times the last");
  water.forget("q");
  assert.deepEqual(look(water, 8_600, 100), [], "something came back to the queue");
  assert.equal(look(water, 8_700, 1).length, 2);
  water.forget();
  assert.deepEqual(look(water, 8_800, 1), []);
  assert.deepEqual(look(water, 8_900, 1), [], "that one was cheap");
});
