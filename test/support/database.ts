/** A database of its own for each test file: cloned from the migrated template, dropped at the end, checked for leaks. */
import { randomBytes } from "node:crypto";
import { after } from "node:test";
import pg from "pg";
import { eventually } from "./eventually.js";
import { databaseName, databaseUrl, testServer } from "./test-server.js";

/** A fresh database with the schema `postrider` in it. */
export interface TestDatabase {
  readonly connectionString: string;
  readonly name: string;
  /** A small pool for the test's own questions; closed at the end. */
  readonly pool: pg.Pool;
}

/** Settings of {@link testDatabase}. */
export interface TestDatabaseOptions {
  /** Begin with an empty database instead of a migrated one. */
  readonly empty?: boolean;
  /** The test or suite whose end is the database's. Default: the file's, if called at its top level. Not in hooks. */
  readonly t?: { after(fn: () => Promise<void>): void };
}

/**
 * Makes a database. At the end, of the given test or else of the file, sessions that are still connected to it fail the run
 * with their names: a client under test must have closed what it opened.
 */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const server = await testServer();
  const name = databaseName("test", randomBytes(5).toString("hex"));
  const admin = new pg.Client(server.connectionString);
  await admin.connect();
  const template = options.empty === true ? "template1" : server.template;
  await admin.query(`create database ${name} template ${template}`);
  const connectionString = databaseUrl(server.connectionString, name);
  const pool = new pg.Pool({ connectionString, max: 4, application_name: "test's own pool" });
  // A test may end the sessions of its database, this pool's idle ones among them.
  pool.on("error", () => undefined);
  (options.t ?? { after }).after(async () => {
    try {
      await pool.end();
      await checkNobodyIsLeft(admin, name);
    } finally {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
      await server.stop();
    }
  });
  return { connectionString, name, pool };
}

// A session ends a moment after its client has closed the socket, and nothing tells when: hence looking again.
async function checkNobodyIsLeft(admin: pg.Client, name: string): Promise<void> {
  const sessions = async (): Promise<readonly string[]> => {
    const { rows } = await admin.query<{ session: string }>(
      `select format('%s (pid %s, %s): %s', application_name, pid, state, left(query, 200)) as session
         from pg_stat_activity where datname = $1 and backend_type = 'client backend' order by pid`,
      [name],
    );
    return rows.map(({ session }) => session);
  };
  await eventually(async () => (await sessions()).length === 0, {
    timeoutMs: 3_000,
    otherwise: async () => `${process.argv[1]} left connections open on ${name}:\n${(await sessions()).join("\n")}`,
  });
}
