/**
 * Applies the committed migrations (J8). graphile-migrate makes those files, but keeps one book per database in a schema of
 * its own and compares file names only: in a database that already has one it would skip ours silently. Hence this runner.
 */
import type pg from "pg";
import { PostriderError } from "../../errors.js";
import type { Logger } from "../../instrument.js";
import { bookingSql, bookSql, checkBook, createBook, type Queryable, readBook } from "./migration-book.js";
import { type CommittedMigration, migrationSql, readCommittedMigrations } from "./migration-files.js";
import { inTransaction, withClient } from "./migration-transaction.js";
import { type SchemaName, schemaName } from "./schema-name.js";

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
