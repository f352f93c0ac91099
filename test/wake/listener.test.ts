/** The LISTEN session on a network and a server that fail. */
import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { heard, keptLog, nextEvent, testClient } from "../support/client.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { byApplication, startProxy } from "../support/proxy.js";
import { testQueue } from "../support/queue-definition.js";

const { connectionString, pool } = await testDatabase();
const listening = byApplication("postrider listen");

async function sessions(name: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(
    "select count(*) from pg_stat_activity where datname = current_database() and application_name = $1",
    [name],
  );
  return Number(rows[0]?.count);
}

const terminate = (name: string) =>
  pool.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and application_name = $1`,
    [name],
  );

test("W5, A11 a session that is terminated comes back, each time, and connections stay within the pool and one", async (t) => {
  const queues = [testQueue("terminated")];
  const mq = testClient(t, { queues, connectionString, poolSize: 3, pollMs: 600_000 });
  const delivered: unknown[] = [];
  mq.queue("terminated").listen((messages) => void delivered.push(...messages));
  await mq.start();
  for (let round = 1; round <= 10; round += 1) {
    const down = nextEvent(mq, "listenerDown");
    const up = nextEvent(mq, "listenerUp");
    await terminate("postrider listen");
    await Promise.all([down, up]);
    await pool.query(`select postrider.publish('terminated', '[{"n":1}]')`);
    await eventually(() => delivered.length === round);
    assert.ok((await sessions("postrider listen")) <= 1);
    assert.ok((await sessions("postrider")) <= 3);
  }
  assert.match(await mq.metrics(), /postrider_listener_reconnects_total 10/);
  assert.match(await mq.metrics(), /postrider_listener_up 1/);
});

test("W5 what was published while nobody listened is found as soon as somebody does", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("deaf-for-a-while")];
  const mq = testClient(t, { queues, connectionString: proxy.connectionString, pollMs: 600_000 });
  let delivered = 0;
  mq.queue("deaf-for-a-while").listen(() => {
    delivered += 1;
  });
  await mq.start();
  await eventually(() => mq.health().ok);
  const down = nextEvent(mq, "listenerDown");
  proxy.refuse(listening);
  proxy.cut(listening);
  await down;
  await pool.query(`select postrider.publish('deaf-for-a-while', '[{"n":1}]')`);
  await nextEvent(mq, "listenerDown");
  assert.equal(delivered, 0);
  await proxy.pass();
  await eventually(() => delivered === 1);
});

test("W5, A1 a half-open session is noticed by its nonce, replaced, and what was missed is delivered", {
  timeout: 60_000,
}, async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const queues = [testQueue("half-open")];
  const logger = keptLog();
  const mq = testClient(t, { queues, connectionString: proxy.connectionString, pollMs: 600_000, logger });
  let delivered = 0;
  mq.queue("half-open").listen(() => {
    delivered += 1;
  });
  await mq.start();
  await eventually(() => mq.health().ok);
  const [down, up] = [nextEvent(mq, "listenerDown"), nextEvent(mq, "listenerUp")];
  const old = (await proxy.connection(listening)).number;
  proxy.drop(({ number }) => number === old);
  await pool.query(`select postrider.publish('half-open', '[{"n":1}]')`);
  assert.match((await down).error.message, /did not arrive/);
  await up;
  await eventually(() => delivered === 1);
  assert.equal(logger.lines.filter(({ message }) => message.startsWith("LISTEN is not available")).length, 1);
});

test("W5 where the nonce never comes back, as through a pooler, it is said once, and polling goes on", {
  timeout: 60_000,
}, async (t) => {
  const queues = [testQueue("pooled")];
  const logger = keptLog();
  const other = await testDatabase({ empty: true, t });
  // LISTEN works there, but what is notified here never arrives: just what a transaction pooler does.
  const mq = testClient(t, {
    queues,
    connectionString,
    listenConnectionString: other.connectionString,
    pollMs: 200,
    logger,
  });
  const downs = heard(mq, "listenerDown");
  let delivered = 0;
  mq.queue("pooled").listen(() => {
    delivered += 1;
  });
  await mq.start();
  assert.equal(mq.health().listener, "down");
  await pool.query(`select postrider.publish('pooled', '[{"n":1}]')`);
  await eventually(() => delivered === 1);
  await eventually(() => downs.length >= 2);
  assert.equal(logger.lines.filter(({ message }) => message.startsWith("LISTEN is not available")).length, 1);
  await mq.stop();
});

test("A13, A2 a database that is away at start is waited for, and LISTEN is up once it is back", async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  await proxy.close();
  const queues = [testQueue("away-at-start")];
  const mq = testClient(t, { queues, connectionString: proxy.connectionString, pollMs: 600_000 });
  let delivered = 0;
  mq.queue("away-at-start").listen(() => {
    delivered += 1;
  });
  const started = mq.start();
  for (let attempt = 0; attempt < 3; attempt += 1) await nextEvent(mq, "error");
  const up = nextEvent(mq, "listenerUp");
  await proxy.pass();
  await Promise.all([started, up]);
  await pool.query(`select postrider.publish('away-at-start', '[{"n":1}]')`);
  await eventually(() => delivered === 1);
});

test("A13 every connection ending at once, as at a server's restart, ends nothing else", async (t) => {
  const queues = [testQueue("restarted")];
  const mq = testClient(t, { queues, connectionString, pollMs: 600_000 });
  const numbers: unknown[] = [];
  mq.queue("restarted").listen((messages) => void numbers.push(...messages));
  await mq.start();
  for (let round = 1; round <= 3; round += 1) {
    const up = nextEvent(mq, "listenerUp");
    await Promise.all([terminate("postrider listen"), terminate("postrider")]);
    await mq.queue("restarted").publish({ n: round });
    await up;
    await eventually(() => numbers.length >= round);
  }
});

test("W6 one LISTEN connection for all queues, and one statement per poll interval while idle", async (t) => {
  const counted = new pg.Pool({ connectionString, max: 5, application_name: "counted" });
  t.after(() => counted.end());
  let statements: string[] = [];
  const submit = pg.Client.prototype.query;
  const queues = Array.from({ length: 50 }, (_, index) => testQueue(`idle-${index}`));
  const mq = testClient(t, { queues, pool: counted, pollMs: 400 });
  counted.on("connect", (client) => {
    client.query = function (this: pg.Client, ...args: unknown[]) {
      const [config] = args as [string | { text: string }];
      statements.push(typeof config === "string" ? config : config.text);
      return (submit as (...all: unknown[]) => unknown).apply(this, args);
    } as typeof client.query;
  });
  for (const { name } of queues) mq.queue(name).listen(() => undefined);
  await mq.start();
  await eventually(() => mq.health().ok);
  await new Promise((resolve) => setTimeout(resolve, 500));
  statements = [];
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  const polls = statements.filter((text) => text.includes(".poll("));
  // 400 ms apart, the first ones a little less, and time lost on a loaded machine only makes them fewer.
  assert.ok(polls.length <= 13, `${polls.length} polls`);
  assert.ok(statements.length - polls.length <= 2, statements.join("\n"));
  assert.equal(await sessions("postrider listen"), 1);
});

test("LISTEN works with a pool whose password is not in a connection string", async (t) => {
  const { hostname, port, username, password, pathname } = new URL(connectionString);
  const options = { host: hostname, port: Number(port), user: username, database: pathname.slice(1) };
  const own = new pg.Pool({ ...options, password: decodeURIComponent(password) });
  t.after(() => own.end());
  const mq = testClient(t, { queues: [], pool: own });
  await mq.start();
  assert.equal(mq.health().listener, "up");
});
