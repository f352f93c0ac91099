/** The PostgreSQL server the tests run on, and the migrated database on it from which every test file's own is cloned. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { migrate } from "../../src/backend/postgres/migrate.js";
import { readCommittedMigrations } from "../../src/backend/postgres/migration-files.js";
import { startEmbeddedPostgres } from "../../src/embedded/embedded.js";

/** Variables by which `test/run.ts` tells the test files where its server is. */
export const serverVariables = { url: "POSTRIDER_TEST_URL", template: "POSTRIDER_TEST_TEMPLATE" } as const;

/** A server with a template database. */
export interface TestServer {
  /** Address of a database that is always there, to create others from. */
  readonly connectionString: string;
  /** Name of the migrated database. */
  readonly template: string;
  stop(): Promise<void>;
}

/** The server of the run that this process belongs to, or, for a test file run by itself, the embedded one. */
export async function testServer(): Promise<TestServer> {
  const { [serverVariables.url]: connectionString, [serverVariables.template]: template } = process.env;
  if (connectionString !== undefined && template !== undefined) {
    return { connectionString, template, stop: async () => undefined };
  }
  return await startTestServer();
}

/** Starts the embedded server (or takes the one of `DATABASE_URL`) and makes the template where it is missing or outdated. */
export async function startTestServer(): Promise<TestServer> {
  // A directory of its own: tests kill sessions, and a demo may run beside them.
  const directory = join(import.meta.dirname, "..", "..", ".postrider", "test");
  const { connectionString, stop } = await startEmbeddedPostgres({ directory });
  try {
    return { connectionString, template: await makeTemplate(connectionString), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The same server, another database. */
export function databaseUrl(connectionString: string, database: string): string {
  const url = new URL(connectionString);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}

/** Databases of runs that died are known by the day in their names. */
export function databaseName(kind: "template" | "test", suffix: string): string {
  return `postrider_${kind}_${new Date().toISOString().slice(0, 10).replaceAll("-", "")}_${suffix}`;
}

async function makeTemplate(connectionString: string): Promise<string> {
  const migrations = await readCommittedMigrations();
  const contents = createHash("sha256").update(JSON.stringify(migrations)).digest("hex").slice(0, 12);
  const template = databaseName("template", contents);
  const client = new pg.Client(connectionString);
  await client.connect();
  try {
    // Several test files may be run by hand at once.
    await client.query("select pg_advisory_lock(7305)");
    await dropOldDatabases(client);
    const { rows } = await client.query("select 1 from pg_database where datname = $1", [template]);
    if (rows.length > 0) return template;
    const partial = `${template}_partial`;
    await client.query(`drop database if exists ${partial}`);
    await client.query(`create database ${partial}`);
    await migrate({ database: { connectionString: databaseUrl(connectionString, partial) } });
    await client.query(`alter database ${partial} rename to ${template}`);
    return template;
  } finally {
    await client.end();
  }
}

async function dropOldDatabases(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    "select datname from pg_database where datname ~ '^postrider_(template|test)_[0-9]{8}_'",
  );
  const today = databaseName("test", "").slice(-9, -1);
  for (const { datname } of rows) {
    if (/_(\d{8})_/.exec(datname)?.[1] === today) continue;
    await client.query(`drop database if exists ${datname} with (force)`);
  }
}
