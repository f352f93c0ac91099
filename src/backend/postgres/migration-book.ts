/** The book of migrations: the table `migration` of each schema, which says what was applied and from what text. */
import { PostriderError } from "../../errors.js";
import type { CommittedMigration } from "./migration-files.js";
import type { SchemaName } from "./schema-name.js";

/** Anything that runs one statement: a pool, a client, or an adapter's executor. */
export interface Queryable {
  query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** One line of the book. */
export interface BookRow {
  readonly name: string;
  readonly hash: string;
  readonly appliedAt: Date;
}

/** What was applied, in order; nothing where there is no book. */
export async function readBook(database: Queryable, schema: SchemaName): Promise<readonly BookRow[] | undefined> {
  const book = `${schema.quoted}.migration`;
  // Asked through the catalog first: a failing statement would abort the transaction of whoever asks.
  const { rows: found } = await database.query("select to_regclass($1) is not null as exists", [book]);
  if (found[0]?.exists !== true) return undefined;
  const { rows } = await database.query(`select name, hash, applied_at as "appliedAt" from ${book} order by name`);
  return rows as unknown as BookRow[];
}

/**
 * Compares the book with the files.
 *
 * @throws PostriderError `ERR_MIGRATION_CHANGED`, `ERR_DATABASE_NEWER`
 */
export function checkBook(
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

/** Makes the schema and its book where they are missing. */
export async function createBook(client: Queryable, schema: SchemaName): Promise<void> {
  // `create schema if not exists` asks for the right to create one even where it exists: a DBA may have made it for us.
  const { rows } = await client.query("select 1 from pg_namespace where nspname = $1", [schema.name]);
  if (rows.length === 0) await client.query(`create schema ${schema.quoted}`);
  if ((await readBook(client, schema)) === undefined) await client.query(bookSql(schema));
}

/** The statement that makes the book. */
export function bookSql({ quoted }: SchemaName): string {
  return `create table if not exists ${quoted}.migration (
  name text primary key,
  hash text not null,
  applied_at timestamptz not null default clock_timestamp()
)`;
}

/** The statement that enters a file into the book. */
export function bookingSql({ quoted }: SchemaName, { name, hash }: CommittedMigration): string {
  return `insert into ${quoted}.migration (name, hash) values ('${name}', '${hash}')`;
}
