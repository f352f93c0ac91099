/** Who is told of what waits or is left: sleepers of other nodes, without being flooded. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import pg from "pg";
import { testDatabase } from "../support/database.js";
import { type Session, sessions } from "./sessions.js";

const db = await testDatabase();

beforeEach(() => db.pool.query("truncate postrider.queue_message_batch, postrider.queue_slot, postrider.queue"));

async function inFlight(count: number, messages = 1): Promise<[string[], string[], string[]]> {
  await db.pool.query(
    "insert into postrider.queue_message_batch (queue_name, payload, message_count, quiet) select 'q', '[1]', $2, true from generate_series(1, $1)",
    [count, messages],
  );
  const { rows } = await db.pool.query("select * from postrider.claim('{q}', $1, '{1}', 'n')", [[count]]);
  return [rows.map(() => "q"), rows.map(({ id }) => id), rows.map(({ claim_token }) => claim_token)];
}

/** A session that sleeps on the queue; the payloads it has heard so far. */
async function sleeper(t: { after(fn: () => Promise<void>): void }): Promise<() => Promise<string[]>> {
  const client = new pg.Client(db.connectionString);
  await client.connect();
  t.after(() => client.end());
  const heard: string[] = [];
  client.on("notification", ({ payload = "" }) => heard.push(payload));
  await client.query("listen postrider");
  const { rows } = await client.query("select postrider.fall_asleep('{q}') as keys");
  return async () => {
    // Notifications come before the answer to whatever is asked next.
    await client.query("select");
    return heard.splice(0).map((payload) => payload.replace(String(rows[0].keys[0]), "key"));
  };
}

const waiting: Readonly<Record<string, string>> = {
  retry: "select postrider.retry($1, $2, $3, array[$4::bigint], '{e}')",
  release: "select postrider.release($1, $2, $3, array[$4::bigint])",
  settle_part:
    "select postrider.settle_part(($1::text[])[1], ($2::bigint[])[1], ($3::bigint[])[1], '[1]', null, '{0}', 1, '{}', '{}', '{}', '{}', '{}', $4, 'e')",
};

for (const [name, call] of Object.entries(waiting)) {
  test(`P14: ${name}: sleepers hear that a batch waits, unless they look before it is due anyhow`, async (t) => {
    const [queues, ids, tokens] = await inFlight(4);
    const heard = await sleeper(t);
    const lets = async (index: number, delayMs: number) => {
      await db.pool.query(call, [[queues[index]], [ids[index]], [tokens[index]], delayMs]);
      return await heard();
    };
    assert.deepEqual(await lets(0, 60_000), ["key!"]);
    assert.deepEqual(await lets(1, 70_000), []);
    assert.deepEqual(await lets(2, 50_000), ["key!"]);
    assert.deepEqual(await lets(3, 0), ["key!"]);
    assert.deepEqual(await lets(3, 0), [], "it was no longer ours");
  });
}

test("P14: who falls asleep while a batch is made to wait keeps looking, also where nobody is notified of it", async (t) => {
  const [queues, ids, tokens] = await inFlight(2);
  const [node, poller] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  const lets = (index: number) =>
    node.ask(waiting.retry as string, [[queues[index]], [ids[index]], [tokens[index]], 60_000]);
  await lets(0);
  await node.ask("begin");
  await lets(1);
  const publishing = async () => (await poller.ask("select postrider.publisher_in_flight('{q}') as yes"))[0]?.yes;
  assert.equal(await publishing(), true);
  await node.ask("commit");
  assert.equal(await publishing(), false);
});

test("W3: a claim that leaves what it has locked is seen by who falls asleep, and wakes who sleeps", async (t) => {
  const [node, poller] = (await sessions(t, db.connectionString, 2)) as [Session, Session];
  await db.pool.query(
    "insert into postrider.queue_message_batch (queue_name, payload, message_count, quiet) select 'q', '[1,2,3]', 3, true from generate_series(1, 2)",
  );
  const look = "select id from postrider.claim('{q}', '{1}', '{1}', 'n', 1000000, '{}', '{}', '{}', '{5}', '{1000}')";
  await node.ask("begin");
  assert.equal((await node.ask(look)).length, 1);
  assert.equal((await poller.ask(look)).length, 0);
  assert.deepEqual(await poller.ask("select postrider.publisher_in_flight('{q}') as yes"), [{ yes: true }]);
  await node.ask("commit");
  assert.equal((await poller.ask(look)).length, 1);
});
