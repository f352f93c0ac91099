/** The committed migrations as files: where they are, graphile-migrate's format read, the schema's name put in. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PostriderError } from "../../errors.js";
import type { SchemaName } from "./schema-name.js";

/** One file of `migrations/committed`, its hash checked. */
export interface CommittedMigration {
  /** The file's name: the key in the book of migrations. */
  readonly name: string;
  /** `sha1:…` over the previous file's hash and the body. */
  readonly hash: string;
  readonly body: string;
}

/**
 * Reads the committed migrations in order.
 *
 * @param directory - another folder than the package's own; for tests
 * @throws PostriderError `ERR_MIGRATION_CHANGED` where a file does not fit the hash in its header
 */
export async function readCommittedMigrations(
  directory = committedDirectory(),
): Promise<readonly CommittedMigration[]> {
  const names = (await readdir(directory)).filter((name) => /^\d+(-[-\w]*)?\.sql$/.test(name)).sort();
  const migrations: CommittedMigration[] = [];
  for (const name of names) {
    const previous = migrations.at(-1)?.hash ?? null;
    migrations.push(parse(name, await readFile(join(directory, name), "utf8"), previous));
  }
  return migrations;
}

/** graphile-migrate's hash of a migration, so that both tools accept the same files. */
export function migrationHash(body: string, previous: string | null): string {
  const text = `${`${previous ?? ""}\n${body.trim()}`.trim()}\n`;
  return `sha1:${createHash("sha1").update(text).digest("hex")}`;
}

/** The migration's SQL for one schema: `:SCHEMA` becomes the identifier, `:SCHEMA_LITERAL` the string. */
export function migrationSql(body: string, schema: SchemaName): string {
  return body.replace(/:(SCHEMA_LITERAL|SCHEMA)\b/g, (_, placeholder: string) =>
    placeholder === "SCHEMA" ? schema.quoted : schema.literal,
  );
}

// Looked for upwards, because this file runs from src/ in the repository and from dist/src/ in the package.
function committedDirectory(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const committed = join(folder, "migrations", "committed");
    if (existsSync(committed)) return committed;
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no folder migrations/committed above ${fileURLToPath(import.meta.url)}`);
    folder = parent;
  }
}

function parse(name: string, text: string, previous: string | null): CommittedMigration {
  const header = /^(?:--! [A-Z].*\n)+/.exec(text)?.[0] ?? "";
  const body = `${text.slice(header.length).trim()}\n`;
  const hash = field(header, "Hash");
  if (hash === undefined || (field(header, "Previous") ?? "-") !== (previous ?? "-")) {
    throw changed(name, `its header does not follow ${previous ?? "an empty database"}`);
  }
  const actual = migrationHash(body, previous);
  if (actual !== hash) throw changed(name, `its header says ${hash}, its text is ${actual}`);
  return { name, hash, body };
}

function field(header: string, key: string): string | undefined {
  return new RegExp(`^--! ${key}: *(.*?) *$`, "m").exec(header)?.[1];
}

function changed(name: string, what: string): PostriderError {
  return new PostriderError("ERR_MIGRATION_CHANGED", `migration ${name} was changed: ${what}`, { details: { name } });
}
