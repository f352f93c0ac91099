/** The client's pool: what it makes, what it reports, and how it ends. */
import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { Connections } from "../../../src/backend/postgres/connection.js";
import { NotConnected } from "../../../src/backend/postgres/sqlstate.js";
import { testDatabase } from "../../support/database.js";
import { startProxy } from "../../support/proxy.js";

const { connectionString, pool } = await testDatabase();
const onIdleError = () => undefined;

const pidOf = async (connections: Connections) => {
  const { rows } = await connections.query("select pg_backend_pid() as pid");
  return rows[0]?.pid;
};

test("a refused statement keeps its connection, a lost one is replaced", async () => {
  const connections = new Connections({ connectionString, onIdleError, poolSize: 1 });
  const pid = await pidOf(connections);
  await assert.rejects(connections.query("select 1 / 0"), { code: "22012" });
  assert.equal(await pidOf(connections), pid);
  const dying = connections.query("select pg_sleep(60)");
  await Promise.all([assert.rejects(dying), pool.query("select pg_terminate_backend($1, 5000)", [pid])]);
  assert.notEqual(await pidOf(connections), pid);
  await connections.close();
});

test("a connection that cannot be had is told apart, with its cause", async () => {
  const connections = new Connections({ connectionString: "postgres://nobody@127.0.0.1:1/nowhere", onIdleError });
  await assert.rejects(connections.query("select 1"), (error) => {
    return error instanceof NotConnected && (error.cause as { code?: string }).code === "ECONNREFUSED";
  });
  await connections.close();
});

test("M4 close is safe twice, ends on a dead network, and no pool is made afterwards", {
  timeout: 60_000,
}, async (t) => {
  const proxy = await startProxy(connectionString);
  t.after(() => proxy.stop());
  const connections = new Connections({ connectionString: proxy.connectionString, onIdleError });
  await connections.query("select 1");
  proxy.drop();
  const stuck = connections.query("select 1");
  const rejected = assert.rejects(stuck);
  // Sent, and swallowed: a statement that still waited for its connection would wait out the pool's own limit.
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([connections.close(), connections.close()]);
  await rejected;
  await assert.rejects(connections.query("select 1"), { code: "ERR_CLIENT_STOPPED" });
});

test("the caller's own pool stays open, and its password reaches the LISTEN connection", async () => {
  const own = new pg.Pool({ host: "127.0.0.1", user: "someone", password: "secret" });
  const connections = new Connections({ pool: own, onIdleError });
  assert.deepEqual(
    Object.entries(connections.listenConfig()).filter(([key]) => key === "password" || key === "user"),
    [
      ["user", "someone"],
      ["password", "secret"],
    ],
  );
  await connections.close();
  assert.equal(own.ending, false);
  await own.end();
});

test("no address is an error that says what to set", async () => {
  await assert.rejects(new Connections({ onIdleError }).query("select 1"), { code: "ERR_NO_DATABASE" });
});
