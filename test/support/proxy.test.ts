import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { testDatabase } from "./database.js";
import { byApplication, type FaultProxy, startProxy } from "./proxy.js";

const db = await testDatabase({ empty: true });

async function proxied(
  t: TestContext,
): Promise<{ proxy: FaultProxy; open: (application: string) => Promise<pg.Client> }> {
  const proxy = await startProxy(db.connectionString);
  const clients: pg.Client[] = [];
  t.after(async () => {
    await proxy.stop();
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
    // What the proxy held back is still a session to the server.
    await db.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name in ('one', 'two')",
    );
  });
  const open = async (application: string) => {
    const client = new pg.Client({ connectionString: proxy.connectionString, application_name: application });
    client.on("error", () => undefined);
    clients.push(client);
    await client.connect();
    return client;
  };
  return { proxy, open };
}

/** Whether a promise is still open after what would be ample time for an answer. */
async function isSilent(promise: Promise<unknown>): Promise<boolean> {
  return (await Promise.race([promise.catch(() => "failed"), sleep(100, "silence")])) === "silence";
}

test("a stalled connection answers once it may again, and the others never notice", async (t) => {
  const { proxy, open } = await proxied(t);
  const [one, two] = [await open("one"), await open("two")];
  proxy.stall(byApplication("one"));
  const answer = one.query("select 1 as it");
  assert.ok(await isSilent(answer));
  assert.equal((await two.query("select 2 as it")).rows[0].it, 2);
  await proxy.pass();
  assert.equal((await answer).rows[0].it, 1);
});

test("what is dropped is gone without a word, also for a connection that comes later", async (t) => {
  const { proxy, open } = await proxied(t);
  const one = await open("one");
  proxy.drop(byApplication("one"));
  const lost = one.query("select 1");
  const unheard = open("one");
  assert.ok(await isSilent(lost));
  assert.ok(await isSilent(unheard));
  await proxy.pass();
  assert.ok(await isSilent(lost));
  proxy.cut();
  await assert.rejects(lost);
  await assert.rejects(unheard);
});

test("a cut connection ends at once, on both sides", async (t) => {
  const { proxy, open } = await proxied(t);
  const [one, two] = [await open("one"), await open("two")];
  const answer = one.query("select pg_sleep(60)");
  proxy.cut(byApplication("one"));
  await assert.rejects(answer, /ECONNRESET|terminated/);
  assert.equal((await two.query("select 2 as it")).rows[0].it, 2);
});

test("a half-closed connection is over for the client and not for the server", async (t) => {
  const { proxy, open } = await proxied(t);
  const one = await open("one");
  const [{ pid }] = (await one.query("select pg_backend_pid() as pid")).rows;
  const over = new Promise((resolve) => one.once("end", resolve));
  proxy.halfClose();
  await over;
  const { rows } = await db.pool.query("select 1 from pg_stat_activity where pid = $1", [pid]);
  assert.equal(rows.length, 1);
});

test("new connections are refused by who they are, or all of them by nobody listening", async (t) => {
  const { proxy, open } = await proxied(t);
  proxy.refuse(byApplication("one"));
  await assert.rejects(open("one"), /ECONNRESET|terminated/);
  await open("two");
  await proxy.close();
  await assert.rejects(open("two"), /ECONNREFUSED/);
  await proxy.pass();
  const waiting = proxy.connection(byApplication("one"));
  await open("one");
  assert.equal((await waiting).parameters.application_name, "one");
});
