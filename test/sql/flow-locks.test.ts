/** Lines, places, rates and keys under concurrency (J9 to J11): each interleaving forced. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import type { QueueSettings } from "../../src/queue/queue.js";
import { Subject } from "../../src/testing/testing.js";
import { testDatabase } from "../support/database.js";
import { type Session, sessions } from "./sessions.js";

const db = await testDatabase();

beforeEach(async () => {
  await db.pool.query(
    `truncate postrider.queue_message_batch, postrider.queue_line, postrider.queue_slot, postrider.queue_rate,
       postrider.queue restart identity`,
  );
});

async function register(settings: Partial<QueueSettings>): Promise<void> {
  const backend = new PostgresBackend({ connectionString: db.connectionString });
  await new Subject(backend).register(settings, "q");
  await backend.close();
}

const ordered = () => register({ orderBy: { by: "/k", onFailure: "block" } });

/** Publishes one batch a message, `a1` with the key `a`. */
async function publish(messages: readonly string[], columns = ""): Promise<void> {
  const [names, values] = columns === "" ? ["", ""] : columns.split(" = ").map((text) => `, ${text}`);
  for (const message of messages) {
    await db.pool.query(
      `insert into postrider.queue_message_batch (queue_name, payload, order_key, quiet${names}) values ('q', $1, $2, true${values})`,
      [JSON.stringify([message]), message[0]],
    );
  }
}

/** What a claim hands out, and when it wants to look again. */
async function claim(session: Session, limit = 10): Promise<{ messages: unknown[]; dueMs?: number; rows: unknown[] }> {
  const rows = await session.ask("select * from postrider.claim('{q}', $1, '{1}', 'a node')", [[limit]]);
  const batches = rows.filter(({ id }) => id !== null);
  const due = rows.find(({ id }) => id === null);
  const messages = batches.map(({ payload }) => JSON.parse(payload as string)[0]);
  return { messages, rows: batches, ...(due === undefined ? {} : { dueMs: Number(due.claim_token) }) };
}

async function ack(session: Session, [row]: readonly unknown[]): Promise<void> {
  const { id, claim_token } = row as Record<string, unknown>;
  await session.ask("select postrider.ack('{q}', $1, $2)", [[id], [claim_token]]);
}

async function release(session: Session, row: unknown): Promise<void> {
  const { id, claim_token } = row as Record<string, unknown>;
  await session.ask("select postrider.release('{q}', $1, $2, '{0}')", [[id], [claim_token]]);
}

async function idOf(message: string): Promise<unknown> {
  const { rows } = await db.pool.query("select id from postrider.queue_message_batch where payload = $1", [
    JSON.stringify([message]),
  ]);
  return rows[0]?.id;
}

test("J10: a claim that makes a line, while its first is being removed by who wants another line of the claim: no deadlock", async (t) => {
  const [node, remover] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await ordered();
  await publish(["c1", "b1"]);
  const { rows } = await claim(node);
  for (const row of rows) await release(node, row);
  await publish(["b2"]);
  await node.ask("begin");
  assert.deepEqual((await claim(node, 1)).messages, ["c1"]);
  await publish(["a1"]);
  await remover.ask("begin");
  assert.deepEqual(await remover.ask("select postrider.remove_waiting('q', $1) as n", [await idOf("a1")]), [{ n: 1 }]);
  // It has b1, and waits for the line of it, which the claim has in hand; the claim comes upon a1.
  const removed = remover.ask("select postrider.remove_waiting('q', $1) as n", [await idOf("b1")]);
  await remover.waits();
  const second = await claim(node, 5);
  assert.deepEqual([second.messages, second.dueMs], [[], 5]);
  await node.ask("commit");
  assert.deepEqual(await removed, [{ n: 1 }]);
  await remover.ask("commit");
  await publish(["a2"]);
  assert.deepEqual((await claim(node)).messages, ["b2", "a2"]);
});

test("J10: an acknowledgement waits for nobody with the line in its hands; the line goes on when the next one is free", async (t) => {
  const [node, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await ordered();
  await publish(["a1", "a2", "a3"]);
  const { rows } = await claim(node);
  await other.ask("begin");
  await other.ask("select from postrider.queue_message_batch where id = $1 for update", [await idOf("a2")]);
  await ack(node, rows);
  // Not a3, whose turn it is not; and the claim comes back, though nothing is pending.
  assert.deepEqual(await claim(node), { messages: [], rows: [], dueMs: 5 });
  await other.ask("commit");
  assert.deepEqual((await claim(node)).messages, ["a2"]);
});

test("J10: who promotes the next one of a line, and who acknowledges its head, do not wait for each other", async (t) => {
  const [node, promoter] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await ordered();
  await publish(["a1"]);
  const { rows } = await claim(node);
  await publish(["a2"], "status, available_at = 'delayed', now()");
  await promoter.ask("begin");
  await promoter.ask("select * from postrider.promote()");
  await node.ask("begin");
  await ack(node, rows);
  assert.deepEqual((await claim(promoter)).messages, []);
  await promoter.ask("commit");
  await node.ask("commit");
  assert.deepEqual((await claim(node)).messages, ["a2"]);
});

test("J10: a head is acknowledged by a transaction that cannot see who is behind it: the next claim passes the line on", async (t) => {
  const [node, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await ordered();
  await publish(["a1"]);
  const { rows } = await claim(node);
  await other.ask("begin isolation level repeatable read");
  await other.ask("select from postrider.queue_line");
  await publish(["a2"]);
  assert.deepEqual((await claim(node)).messages, []);
  await ack(other, rows);
  await other.ask("commit");
  await other.ask("begin");
  await other.ask("select from postrider.queue_line for update");
  assert.deepEqual(await claim(node), { messages: [], rows: [], dueMs: 5 });
  await other.ask("commit");
  assert.deepEqual((await claim(node)).messages, ["a2"]);
});

test("J10: while one puts a batch behind, who takes the head away waits, and then sees who is behind", async (t) => {
  const [node, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await ordered();
  await publish(["a1"]);
  const { rows } = await claim(node);
  await publish(["a2"]);
  await other.ask("begin");
  assert.deepEqual((await claim(other)).messages, []);
  const acked = ack(node, rows);
  await node.waits();
  await other.ask("commit");
  await acked;
  assert.deepEqual((await claim(node)).messages, ["a2"]);
});

test("J10: two claims make the lines of one queue one after another: who comes second looks again", async (t) => {
  const [one, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await ordered();
  await publish(["a1"]);
  await one.ask("begin");
  assert.deepEqual((await claim(one)).messages, ["a1"]);
  await publish(["a2"]);
  assert.deepEqual(await claim(other), { messages: [], rows: [], dueMs: 1 });
  await one.ask("commit");
  assert.deepEqual(await claim(other), { messages: [], rows: [] });
});

test("J10: a claim waits for nobody who has what it would put behind", async (t) => {
  const [node, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await ordered();
  await publish(["a1"]);
  const { rows } = await claim(node);
  await publish(["a2"]);
  await other.ask("begin");
  await other.ask("select from postrider.queue_message_batch where id = $1 for update", [await idOf("a2")]);
  assert.deepEqual(await claim(node), { messages: [], rows: [] });
  await other.ask("commit");
  await ack(node, rows);
  assert.deepEqual((await claim(node)).messages, ["a2"]);
});

test("J10: a line whose head somebody deleted goes on; one whose head is there is left alone", async (t) => {
  const [node] = (await sessions(t, db.connectionString, 1)) as [Session];
  await ordered();
  await publish(["a1", "a2", "b1", "b2"]);
  assert.deepEqual((await claim(node)).messages, ["a1", "b1"]);
  await node.ask("delete from postrider.queue_message_batch where id = $1", [await idOf("a1")]);
  assert.deepEqual(await node.ask("select postrider.repair_lines() as queue"), [{ queue: "q" }]);
  assert.deepEqual((await claim(node)).messages, ["a2"]);
});

for (const [what, settings] of [
  ["place", { maxInFlight: 1 }],
  ["token", { rate: { limit: 1, perMs: 3_600_000 } }],
] as const) {
  test(`J11: while one takes the last ${what}, another gets nothing and is told to look again; nor after the commit`, async (t) => {
    const [one, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
    await register(settings);
    await publish(["a1", "b1", "c1"]);
    await one.ask("begin");
    assert.deepEqual((await claim(one)).messages, ["a1"]);
    const meanwhile = claim(other);
    // Should it wait instead, it is let go by the commit, with the old snapshot in its hands.
    await Promise.race([meanwhile, other.waits()]);
    await one.ask("commit");
    assert.deepEqual(await meanwhile, { messages: [], rows: [], dueMs: 5 });
    assert.deepEqual((await claim(other)).messages, []);
  });
}

test("J11: a claim is flushed when it took a place, a token or the head of a line", async (t) => {
  const [node] = (await sessions(t, db.connectionString, 1)) as [Session];
  await publish(["a1", "b1", "c1"]);
  const kinds = [
    { maxInFlight: 9 },
    { rate: { limit: 9, perMs: 1_000 } },
    { orderBy: { by: "/k", onFailure: "skip" } },
  ] as const;
  for (const settings of kinds) {
    await register(settings);
    await node.ask("begin");
    assert.equal((await claim(node, 1)).messages.length, 1);
    assert.deepEqual(await node.ask("show synchronous_commit"), [{ synchronous_commit: "on" }]);
    await node.ask("commit");
  }
});

test("J9: a key that another transaction is just about to take counts as taken: what comes back does not wait for it", async (t) => {
  const [node, publisher] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  const keyed = "unique_key, unique_running = 'k', false";
  await publish(["a1"], keyed);
  const { rows } = await claim(node);
  await publisher.ask("begin");
  const insert = `insert into postrider.queue_message_batch (queue_name, payload, quiet, unique_key, unique_running)
    values ('q', '["b1"]', true, 'k', false)`;
  await publisher.ask(insert);
  await node.ask("set lock_timeout = 0");
  await node.ask("set statement_timeout = '2s'");
  for (const row of rows) await release(node, row);
  await publisher.ask("commit");
  assert.deepEqual((await claim(node)).messages, ["a1", "b1"]);
});

test("J11: a claim does not wait for a registration that waits for the claims under way", async (t) => {
  const [node, starting] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await register({ maxInFlight: 1 });
  await publish(["a1"]);
  await node.ask("begin");
  await node.ask("lock table postrider.claim_gate in row share mode");
  // As register_queue, which has written the queue's row when it comes to its slots.
  await starting.ask("begin");
  await starting.ask("update postrider.queue set updated_at = now()");
  const made = starting.ask("select postrider.set_slots('q', 2)");
  await starting.waits();
  assert.deepEqual((await claim(node)).messages, ["a1"]);
  await node.ask("commit");
  await made;
  await starting.ask("commit");
});
