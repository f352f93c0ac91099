/** Who locks what, in which order, and who waits for whom: each interleaving forced, none left to chance. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { testDatabase } from "../support/database.js";
import { type Session, sessions } from "./sessions.js";

const db = await testDatabase();
const claimed = "select * from postrider.claim($1, $2, $3, 'a node')";

beforeEach(async () => {
  await db.pool.query(
    "truncate postrider.queue_message_batch, postrider.dead_message_batch, postrider.queue_slot, postrider.queue restart identity",
  );
});

async function insert(queue: string, rows: number, columns = ""): Promise<void> {
  const [names, values] = columns === "" ? ["", ""] : columns.split(" = ").map((text) => `, ${text}`);
  await db.pool.query(
    `insert into postrider.queue_message_batch (queue_name, payload, quiet${names}) select $1, '[1]', true${values} from generate_series(1, $2)`,
    [queue, rows],
  );
}

async function claim(session: Session, queue: string, limit = 10): Promise<Record<string, unknown>[]> {
  return await session.ask(claimed, [[queue], [limit], [1]]);
}

async function register(session: Session, queue: string, exclusive: boolean): Promise<void> {
  const limits = { maxBatchMessages: 100, maxBatchBytes: 100_000, maxAttempts: 5, orphanAfterMs: 1, staleAfterMs: 1 };
  const definition = { name: queue, version: 1, schemaHash: "h", schema: "{}", settings: { exclusive, ...limits } };
  await session.ask("select postrider.register_queue($1, 'a node')", [JSON.stringify(definition)]);
}

const settling: Readonly<Record<string, string>> = {
  ack: "select postrider.ack($1, $2, $3)",
  retry: "select postrider.retry($1, $2, $3, '{0,0}', '{e,e}')",
  release: "select postrider.release($1, $2, $3, '{0,0}')",
  dead_letter: "select postrider.dead_letter($1, $2, $3, '{rejected,rejected}', '{e,e}')",
};

for (const [name, call] of Object.entries(settling)) {
  test(`lock order: ${name} locks the first row first, whatever order it is told`, async (t) => {
    const [holder, settler, third] = (await sessions(t, db.connectionString, 3)) as [Session, Session, Session];
    await insert("q", 3_000);
    // Of so many in flight two are looked up one by one, in the order they come in.
    const [first, second] = (await claim(settler, "q", 2_000)).sort((a, b) => Number(a.id) - Number(b.id));
    await holder.ask("analyze postrider.queue_message_batch");
    await holder.ask("begin");
    await holder.ask("select from postrider.queue_message_batch where id = $1 for update", [first?.id]);
    const reversed = [second, first];
    const settled = settler.ask(call, [
      ["q", "q"],
      reversed.map((row) => row?.id),
      reversed.map((row) => row?.claim_token),
    ]);
    await settler.waits();
    // It waits for the first with nothing in its hands: two of its kind cannot wait for each other.
    await third.ask("select from postrider.queue_message_batch where id = $1 for update nowait", [second?.id]);
    await holder.ask("commit");
    assert.equal((await settled).length, 2);
  });
}

test("R2: a heartbeat waits for nobody: the row that is being settled is answered skipped", async (t) => {
  const [settler, node] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await insert("q", 3);
  const rows = (await claim(node, "q")).sort((a, b) => Number(a.id) - Number(b.id));
  await settler.ask("begin");
  await settler.ask("select postrider.ack('{q}', $1, $2)", [[rows[1]?.id], [rows[1]?.claim_token]]);
  const beat = async () => {
    const answers = await node.ask("select * from postrider.heartbeat($1, $2, $3)", [
      rows.map(() => "q"),
      rows.map(({ id }) => id),
      rows.map(({ claim_token }) => claim_token),
    ]);
    return answers.map(({ answer }) => answer);
  };
  assert.deepEqual(await beat(), ["kept", "skipped", "kept"]);
  await settler.ask("commit");
  assert.deepEqual(await beat(), ["kept", "lost", "kept"]);
});

test("D1: a claim waits for nobody: what another is claiming is passed by", async (t) => {
  const [one, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await insert("q", 4);
  await one.ask("begin");
  assert.equal((await claim(one, "q", 2)).length, 2);
  assert.equal((await claim(other, "q")).length, 2);
  await one.ask("commit");
});

test("P14: promotion waits for nobody", async (t) => {
  const [one, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await insert("q", 4, "status, available_at = 'delayed', now()");
  await one.ask("begin");
  assert.equal((await one.ask("select * from postrider.promote(1)"))[0]?.promoted, 1);
  assert.equal((await other.ask("select * from postrider.promote()"))[0]?.promoted, 3);
  await one.ask("commit");
});

test("R4: recovery waits for nobody, and leaves alone what is giving a sign of life at this moment", async (t) => {
  const [node, recoverer] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await register(node, "q", false);
  await insert("q", 2);
  const [row] = await claim(node, "q");
  await node.ask("update postrider.queue_message_batch set status_heartbeat = now() - interval '1 hour'");
  await node.ask("begin");
  await node.ask("select postrider.heartbeat('{q}', $1, $2)", [[row?.id], [row?.claim_token]]);
  assert.deepEqual(await recoverer.ask("select recovered from postrider.recover(false)"), [{ recovered: 1 }]);
  await node.ask("commit");
});

test("J2: of two who redrive, purge or clear at once, none waits and none does what the other does", async (t) => {
  const [one, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await insert("q", 4);
  const rows = await claim(one, "q");
  const fences = [rows.map(() => "q"), rows.map(({ id }) => id), rows.map(({ claim_token }) => claim_token)];
  await one.ask(
    "select postrider.dead_letter($1, $2, $3, array_fill('rejected'::text, '{4}'), array_fill('e'::text, '{4}'))",
    fences,
  );
  await one.ask("begin");
  assert.equal((await one.ask("select postrider.redrive('q', null, null, 1)")).length, 1);
  assert.deepEqual(await other.ask("select postrider.purge('q', null, null, 1) as n"), [{ n: 1 }]);
  assert.equal((await other.ask("select postrider.redrive('q', null, null, 9)")).length, 2);
  await one.ask("commit");
  await one.ask("begin");
  assert.equal((await claim(one, "q", 1)).length, 1);
  assert.deepEqual(await other.ask("select postrider.remove_waiting('q', null) as n"), [{ n: 2 }]);
  await one.ask("commit");
});

test("E1: while one takes the slot of an exclusive queue, another gets nothing, neither before nor after the commit", async (t) => {
  const [one, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await register(one, "x", true);
  await insert("x", 3);
  await insert("q", 1);
  await one.ask("begin");
  assert.equal((await claim(one, "x")).length, 1);
  const meanwhile = await other.ask(claimed, [
    ["x", "q"],
    [5, 5],
    [1, 1],
  ]);
  assert.deepEqual(
    meanwhile.map((row) => row.queue_name),
    ["q"],
  );
  await one.ask("commit");
  assert.equal((await claim(other, "x")).length, 0);
});

test("E1: who is late for the slot loses it, though its snapshot shows it free", async (t) => {
  const [one, other] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await register(one, "x", true);
  await insert("x", 3);
  await one.ask("begin");
  assert.equal((await claim(one, "x")).length, 1);
  // Should it wait for the slot's row, it is let go by the commit, with the old snapshot in its hands.
  const late = claim(other, "x");
  await Promise.race([late, other.waits()]);
  await one.ask("commit");
  assert.equal((await late).length, 0);
});

test("E1: a queue becomes exclusive only once the claims under way have ended, and their batches drain first", async (t) => {
  const [node, starting, third] = (await sessions(t, db.connectionString, 3)) as [Session, Session, Session];
  await register(node, "q", false);
  await insert("q", 2);
  await node.ask("begin");
  const [running] = await claim(node, "q", 1);
  const registered = register(starting, "q", true);
  await starting.waits();
  await node.ask("commit");
  await registered;
  assert.equal((await claim(third, "q")).length, 0);
  await node.ask("select postrider.ack('{q}', $1, $2)", [[running?.id], [running?.claim_token]]);
  assert.equal((await claim(third, "q")).length, 1);
});

test("E1: a registration that changes nothing stops no claim", async (t) => {
  const [node, starting] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await register(node, "q", true);
  await node.ask("begin");
  await claim(node, "q");
  await register(starting, "q", true);
  await register(starting, "other", false);
  await node.ask("commit");
});

test("E1: a slot is held as long as the lease, also when part of the batch has left it", async (t) => {
  const [node] = (await sessions(t, db.connectionString, 1)) as [Session];
  await register(node, "x", true);
  await insert("x", 1);
  const [row] = await claim(node, "x");
  const part = async (delayMs: number | null) =>
    await node.ask(
      "select postrider.settle_part('x', $1, $2, '[1]', null, '{0}', 1, '{}', '{}', '{}', '{}', '{}', $3, 'e') as answer",
      [row?.id, row?.claim_token, delayMs],
    );
  const held = async () => (await node.ask("select batch_id from postrider.queue_slot"))[0]?.batch_id;
  assert.deepEqual(await part(null), [{ answer: "kept" }]);
  assert.equal(await held(), row?.id);
  assert.deepEqual(await part(0), [{ answer: "delayed" }]);
  assert.equal(await held(), null);
});

test("E1: a slot whose batch somebody deleted is freed, one in use is not", async (t) => {
  const [node] = (await sessions(t, db.connectionString, 1)) as [Session];
  for (const queue of ["x", "y"]) {
    await register(node, queue, true);
    await insert(queue, 2);
    await claim(node, queue);
  }
  await node.ask("delete from postrider.queue_message_batch where queue_name = 'x' and status = 'processing'");
  assert.deepEqual(await node.ask("select postrider.repair_slots() as queue"), [{ queue: "x" }]);
  assert.equal((await claim(node, "x")).length, 1);
  assert.equal((await claim(node, "y")).length, 0);
});

test("R1: a claim is flushed when it took a slot, and only then", async (t) => {
  const [node] = (await sessions(t, db.connectionString, 1)) as [Session];
  await register(node, "x", true);
  await insert("q", 1);
  await insert("x", 1);
  const commit = async (queues: string[]) => {
    await node.ask("begin");
    const rows = await node.ask(claimed, [queues, queues.map(() => 1), queues.map(() => 1)]);
    const [shown] = await node.ask("show synchronous_commit");
    await node.ask("commit");
    return [rows.length, shown?.synchronous_commit];
  };
  assert.deepEqual(await commit(["q"]), [1, "off"]);
  assert.deepEqual(await commit(["x"]), [1, "on"]);
  assert.deepEqual(await commit(["x", "q"]), [0, "off"]);
  assert.deepEqual(await node.ask("show synchronous_commit"), [{ synchronous_commit: "on" }]);
});

test("W3: a publishing transaction is seen until it has ended, and a sleeper is seen by it; probes leave nothing behind", async (t) => {
  const [publisher, poller, sleeper] = (await sessions(t, db.connectionString, 3)) as [Session, Session, Session];
  const inFlight = async () => (await poller.ask("select postrider.publisher_in_flight('{q}') as yes"))[0]?.yes;
  await publisher.ask("begin");
  await publisher.ask("insert into postrider.queue_message_batch (queue_name, payload) values ('q', '[1]')");
  assert.equal(await inFlight(), true);
  await publisher.ask("commit");
  assert.equal(await inFlight(), false);
  const woken = async () => (await publisher.ask("select postrider.wake('{q,q,q}') as n"))[0]?.n;
  assert.equal(await woken(), 0);
  await sleeper.ask("select postrider.fall_asleep('{q,q}')");
  assert.equal(await woken(), 1);
  await sleeper.ask("select postrider.rise(array[postrider.wake_key('q')])");
  assert.equal(await woken(), 0);
  assert.deepEqual(await poller.ask("select postrider.is_alive('nobody') as alive"), [{ alive: false }]);
  assert.deepEqual(
    await poller.ask(
      "select * from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
    ),
    [],
  );
});

test("W1: a switch silences the trigger, for two-phase commit; the library's own rows are silent by themselves", async (t) => {
  const [publisher, poller] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  const inFlight = async () => (await poller.ask("select postrider.publisher_in_flight('{q}') as yes"))[0]?.yes;
  await publisher.ask("begin");
  await publisher.ask("set local postrider.wake = off");
  await publisher.ask("insert into postrider.queue_message_batch (queue_name, payload) values ('q', '[1]')");
  await insert("q", 1);
  assert.equal(await inFlight(), false);
  await publisher.ask("commit");
});
