/**
 * Applies the committed migrations (J8). graphile-migrate makes those files, but keeps one book per database in a schema of
 * its own and compares file names only: in a database that already has one it would skip ours silently. Hence this runner.
 */
import pg from "pg";
import { PostriderError } from "../../errors.js";
import type { Logger } from "../../instrument.js";
import { type CommittedMigration, migrationSql, readCommittedMigrations } from "./migration-files.js";
import { type SchemaName, schemaName } from "./schema-name.js";

/** Anything that runs one statement: a pool, a client, or an adapter's executor. */
export interface Queryable {
  query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** Options of {@link migrate}. */
export interface MigrateOptions {
  /** A pool, of which one connection is used, or what to connect to. */
  readonly database: pg.Pool | pg.ClientConfig;
  /** Default `postrider`. */
  readonly schema?: string;
  readonly log?: Logger;
  /** How long a file may wait for a table that others use, before it fails and changes nothing. Default 10,000. */
  readonly lockTimeoutMs?: number;
  /** Another folder than the package's own; for tests. */
  readonly directory?: string;
}

/** One migration as `postrider migrate --status` shows it. */
export interface MigrationState {
  readonly name: string;
  /** `changed`: the file is not what was applied. `unknown`: applied by a newer postrider, which has its file. */
  readonly state: "applied" | "pending" | "changed" | "unknown";
  readonly appliedAt?: Date;
}

/**
 * Brings the schema up to date: one transaction per file, idempotent, safe when ten nodes boot at once.
 *
 * @returns the names of the files this call applied
 * @throws PostriderError `ERR_SCHEMA_NAME`, `ERR_MIGRATION_CHANGED`, `ERR_DATABASE_NEWER`
 */
export async function migrate(options: MigrateOptions): Promise<readonly string[]> {
  const schema = schemaName(options.schema ?? "postrider");
  const files = await readCommittedMigrations(options.directory);
  const lockTimeoutMs = options.lockTimeoutMs ?? 10_000;
  return await withClient(options.database, async (client) => {
    await inTransaction(client, schema, lockTimeoutMs, () => createBook(client, schema));
    const applied: string[] = [];
    for (const file of files) {
      const isNew = await inTransaction(client, schema, lockTimeoutMs, () => applyOnce(client, schema, files, file));
      if (!isNew) continue;
      applied.push(file.name);
      options.log?.info({ schema: schema.name, migration: file.name }, "migration applied");
    }
    checkBook(await readBook(client, schema), files, schema);
    return applied;
  });
}

/** What is applied, what is not, and what does not fit. Changes nothing. */
export async function migrationStatus(
  database: Queryable,
  schema = "postrider",
  directory?: string,
): Promise<readonly MigrationState[]> {
  const files = await readCommittedMigrations(directory);
  const book = (await readBook(database, schemaName(schema))) ?? [];
  const known = files.map((file): MigrationState => {
    const row = book.find(({ name }) => name === file.name);
    if (row === undefined) return { name: file.name, state: "pending" };
    return { name: file.name, state: row.hash === file.hash ? "applied" : "changed", appliedAt: row.appliedAt };
  });
  const unknown = book.filter((row) => files.every((file) => file.name !== row.name));
  return [...known, ...unknown.map(({ name, appliedAt }): MigrationState => ({ name, state: "unknown", appliedAt }))];
}

/**
 * Whether this code fits the database: one small query, for `start()`.
 *
 * @throws PostriderError `ERR_NOT_MIGRATED`, `ERR_MIGRATION_CHANGED`, `ERR_DATABASE_NEWER`
 */
export async function checkMigrated(database: Queryable, schema = "postrider", directory?: string): Promise<void> {
  const name = schemaName(schema);
  const files = await readCommittedMigrations(directory);
  const book = await readBook(database, name);
  checkBook(book, files, name);
  const missing = files.find((file) => !book?.some((row) => row.name === file.name));
  if (missing === undefined) return;
  const state = book === undefined ? "does not exist yet" : `lacks migration ${missing.name}`;
  throw new PostriderError("ERR_NOT_MIGRATED", `schema ${name.quoted} ${state}; run \`npx postrider migrate\``, {
    details: { schema: name.name, migration: missing.name },
  });
}

/** Everything `migrate` would run on an empty database, as text for a DBA's own tool. */
export async function printMigrations(schema = "postrider", directory?: string): Promise<string> {
  const name = schemaName(schema);
  const files = await readCommittedMigrations(directory);
  const steps = files.map((file) => `${migrationSql(file.body, name)}\n${bookingSql(name, file)};\n`);
  return `begin;\n${[`create schema if not exists ${name.quoted};`, `${bookSql(name)};`, "", ...steps].join("\n")}commit;\n`;
}

/** Drops the schema and every message in it. Waits at most `lockTimeoutMs` (10,000) for those who use it. */
export async function dropSchema(options: MigrateOptions): Promise<void> {
  const schema = schemaName(options.schema ?? "postrider");
  await withClient(options.database, (client) =>
    inTransaction(client, schema, options.lockTimeoutMs ?? 10_000, () =>
      client.query(`drop schema if exists ${schema.quoted} cascade`),
    ),
  );
}

interface BookRow {
  readonly name: string;
  readonly hash: string;
  readonly appliedAt: Date;
}

async function withClient<T>(database: pg.Pool | pg.ClientConfig, work: (client: pg.ClientBase) => Promise<T>) {
  if (database instanceof pg.Pool || "totalCount" in database) {
    const client = await (database as pg.Pool).connect();
    return await work(client).then(
      (result) => {
        client.release();
        return result;
      },
      (error) => {
        // Its transaction may still be open: closing it is cheaper than finding out.
        client.release(true);
        throw error;
      },
    );
  }
  const client = new pg.Client({ application_name: "postrider migrate", ...database });
  // A connection that dies between two statements is reported by the next statement; unheard, it would end the process.
  client.on("error", () => undefined);
  await client.connect();
  return await work(client).finally(() => client.end());
}

async function inTransaction<T>(
  client: pg.ClientBase,
  schema: SchemaName,
  lockTimeoutMs: number,
  work: () => Promise<T>,
) {
  await client.query("begin");
  try {
    // Waiting for another node that migrates has no limit; waiting for a table has one, because whoever waits for an
    // exclusive lock makes everybody behind it wait. A transaction's lock, not a session's: poolers would strand that one.
    await client.query(
      "set local lock_timeout = 0; set local statement_timeout = 0; set local client_min_messages = warning",
    );
    await client.query("select pg_advisory_xact_lock(7304, hashtext($1))", [schema.name]);
    await client.query(`set local lock_timeout = ${Math.round(lockTimeoutMs)}; set local search_path = pg_catalog`);
    const result = await work();
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

// `create schema if not exists` asks for the right to create one even where it exists: a DBA may have made it for us.
async function createBook(client: pg.ClientBase, schema: SchemaName): Promise<void> {
  const { rows } = await client.query("select 1 from pg_namespace where nspname = $1", [schema.name]);
  if (rows.length === 0) await client.query(`create schema ${schema.quoted}`);
  if ((await readBook(client, schema)) === undefined) await client.query(bookSql(schema));
}

async function applyOnce(
  client: pg.ClientBase,
  schema: SchemaName,
  files: readonly CommittedMigration[],
  file: CommittedMigration,
): Promise<boolean> {
  const book = await readBook(client, schema);
  checkBook(book, files, schema);
  if (book?.some(({ name }) => name === file.name)) return false;
  await client.query(migrationSql(file.body, schema));
  await client.query(bookingSql(schema, file));
  return true;
}

function checkBook(
  book: readonly BookRow[] | undefined,
  files: readonly CommittedMigration[],
  schema: SchemaName,
): void {
  for (const row of book ?? []) {
    const file = files.find(({ name }) => name === row.name);
    const details = { schema: schema.name, migration: row.name };
    if (file === undefined) {
      const text = `schema ${schema.quoted} has migration ${row.name}, which this version of postrider does not know`;
      throw new PostriderError("ERR_DATABASE_NEWER", text, { details });
    }
    if (file.hash === row.hash) continue;
    const text = `migration ${row.name} was applied to schema ${schema.quoted} as ${row.hash}; its file is ${file.hash}`;
    throw new PostriderError("ERR_MIGRATION_CHANGED", text, { details });
  }
}

// Asked through the catalog first: a failing statement would abort the transaction of whoever asks.
async function readBook(database: Queryable, schema: SchemaName): Promise<readonly BookRow[] | undefined> {
  const book = `${schema.quoted}.migration`;
  const { rows: found } = await database.query("select to_regclass($1) is not null as exists", [book]);
  if (found[0]?.exists !== true) return undefined;
  const { rows } = await database.query(`select name, hash, applied_at as "appliedAt" from ${book} order by name`);
  return rows as unknown as BookRow[];
}

function bookSql({ quoted }: SchemaName): string {
  return `create table if not exists ${quoted}.migration (
  name text primary key,
  hash text not null,
  applied_at timestamptz not null default clock_timestamp()
)`;
}

function bookingSql({ quoted }: SchemaName, { name, hash }: CommittedMigration): string {
  return `insert into ${quoted}.migration (name, hash) values ('${name}', '${hash}')`;
}
