/** What the documented roles may do, in a schema of an odd name: everything they need, and nothing else. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { migrate } from "../../src/backend/postgres/migrate.js";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import { schemaName } from "../../src/backend/postgres/schema-name.js";
import { conformanceSuite, Subject } from "../../src/testing/testing.js";
import { testDatabase } from "../support/database.js";
import { testServer } from "../support/test-server.js";

const db = await testDatabase({ empty: true });
const schema = schemaName(`Odd-"Name's" $ü`);
const tag = randomBytes(4).toString("hex");
const roles = { publisher: `publisher_${tag}`, consumer: `consumer_${tag}`, operator: `operator_${tag}` };

async function grants(publisher: string, consumer: string): Promise<string> {
  const text = await readFile(new URL("../../migrations/grants.sql", import.meta.url), "utf8");
  const values: Record<string, string> = { SCHEMA: schema.quoted, PUBLISHER: publisher, CONSUMER: consumer };
  // As psql's -v does.
  return text
    .replace(/^--.*$/gm, "")
    .replace(/:(SCHEMA|PUBLISHER|CONSUMER)\b/g, (_, name: string) => values[name] ?? "");
}

function addressOf(role: string): string {
  const url = new URL(db.connectionString);
  url.username = role;
  url.password = tag;
  return url.href;
}

const backendOf = (role: string) => new PostgresBackend({ connectionString: addressOf(role), schema: schema.name });

const denied = { code: "42501" };

before(async () => {
  await migrate({ database: { connectionString: db.connectionString }, schema: schema.name });
  for (const role of Object.values(roles)) await db.pool.query(`create role ${role} login password '${tag}'`);
  await db.pool.query(await grants(roles.operator, roles.operator));
  await db.pool.query(await grants(roles.publisher, roles.consumer));
});

after(async () => {
  const server = await testServer();
  const admin = new pg.Client(server.connectionString);
  await admin.connect();
  for (const role of Object.values(roles)) await admin.query(`drop role ${role}`);
  await admin.end();
  await server.stop();
});

describe("a role that may only publish", () => {
  const backend = backendOf(roles.publisher);
  const subject = new Subject(backend);
  const client = new pg.Client(addressOf(roles.publisher));
  before(() => client.connect());
  after(async () => {
    await client.end();
    await backend.close();
  });

  it("publishes, alone, in numbers, in a transaction, delayed, and by SQL", async () => {
    await subject.publish("q", [1], { delayMs: 5 });
    await backend.publish(Array.from({ length: 60 }, (_, index) => subject.batch("q", [index])));
    const transaction = await backend.begin();
    await transaction.publish([subject.batch("q")]);
    await transaction.commit();
    await backend.wake(["q"], false);
    const { rows } = await client.query(`select ${schema.quoted}.publish('q', '[{"a":1},2]', headers => '{"h":"v"}')`);
    assert.equal(rows.length, 1);
  });

  for (const [what, statement] of Object.entries({
    "reads no message": "select payload from S.queue_message_batch",
    "reads no dead letter": "select * from S.dead_message_batch",
    "claims nothing": "select * from S.claim('{q}', '{1}', '{1}', 'me')",
    "deletes nothing": "delete from S.queue_message_batch",
    "divides nothing": "select S.divide('q', 1, 1, '{}', '{}', '{}', false, 0, null)",
    "pauses nothing": "select S.set_paused('q', true)",
    "registers nothing": "select S.register_queue('{}', 'me')",
  })) {
    it(what, () => assert.rejects(client.query(statement.replace("S", schema.quoted)), denied));
  }
});

describe("a role that may only consume", () => {
  const [publishing, backend] = [backendOf(roles.operator), backendOf(roles.consumer)];
  const subject = new Subject(backend);
  after(() => Promise.all([publishing.close(), backend.close()]));

  it("does whatever a node does", async () => {
    await backend.check();
    const queue = await subject.register({ exclusive: true });
    await publishing.publish(Array.from({ length: 6 }, (_, index) => subject.batch(queue, [index, "b"])));
    const session = await backend.listen({
      onWake: () => undefined,
      onEcho: () => undefined,
      onDown: () => undefined,
      signal: new AbortController().signal,
    });
    await backend.noteNode("me", "me", { [queue]: 1 });
    await session.liveAs("me");
    await session.fallAsleep([queue]);
    const everything = { owner: "me", maintain: true, recover: true, orphans: true, fallingAsleep: true, prune: true };
    const next = async () => (await subject.poll([queue], everything)).batches[0] ?? assert.fail("nothing to claim");
    const first = await next();
    assert.equal((await session.heartbeat([first])).get(first.token), "kept");
    await backend.ack([first]);
    const following = [{ queue: "q", version: 1, priority: 1, payload: "[1]" }];
    const chain = JSON.stringify({ id: "c", step: 1, steps: 2, rest: following });
    await publishing.publish([{ ...subject.batch(queue), priority: 1, chain }]);
    assert.deepEqual(await backend.ack([await next()]).then(({ size }) => size), 1);
    await backend.retry([{ lease: await next(), delayMs: 60_000, error: "e" }]);
    await backend.release([await next()], 60_000);
    await backend.deadLetter([{ lease: await next(), reason: "rejected", error: "e" }]);
    const rest = { payload: "[1]", positions: [1] };
    const dead = [{ payload: "[0]", position: 0, reason: "schema" as const, error: "e" }];
    assert.equal(
      await backend.settlePart({ lease: await next(), rest, dead, failure: { delayMs: 60_000, error: "" } }),
      "delayed",
    );
    const singles = [0, 1].map((position) => ({ payload: `[${position}]`, position }));
    assert.equal((await backend.divide({ lease: await next(), singles })).length, 2);
    await backend.inspector.depths();
    await backend.inspector.unconsumable();
    await session.rise();
    await session.close();
    await backend.noteNode("me", "me");
  });

  it("stores no message of its own", async () => {
    await assert.rejects(subject.publish("q"), denied);
    await assert.rejects(backend.publish([subject.batch("q"), subject.batch("q")]), denied);
    // What an acknowledgement hands over is stored with the owner's rights: only the acknowledgement may ask for it.
    const client = new pg.Client(addressOf(roles.consumer));
    await client.connect();
    const step = { id: "c", step: 1, steps: 2, rest: [{ queue: "q", version: 1, priority: 1, payload: "[1]" }] };
    const handing = client.query(`select ${schema.quoted}.hand_over(1, $1)`, [JSON.stringify(step)]);
    await assert.rejects(
      handing.finally(() => client.end()),
      denied,
    );
  });
});

describe("a role that was given both passes the suite, whatever the schema is called", () => {
  const backend = backendOf(roles.operator);
  const subject = new Subject(backend);
  after(() => backend.close());
  for (const [verb, cases] of Object.entries(conformanceSuite)) {
    for (const one of cases) it(`${one.rule} ${verb}: ${one.name}`, () => one.run(subject));
  }
});
