/** `migrations/current` and `migrations/functions` put together in order, in the form graphile-migrate gives a committed file. */
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { migrationHash } from "../src/backend/postgres/migration-files.js";

/** One part of a migration: a name as graphile-migrate wants it, and its SQL. */
export interface MigrationPart {
  readonly name: string;
  readonly sql: string;
}

// Files of current/ below this number come before the functions (tables, types), the others after them (triggers, grants).
const firstNumberAfterFunctions = 500;

/** Whether the first migration is still being rewritten: until its release, its tables are in `current/`, and then never again. */
export async function isFirstPending(root: string): Promise<boolean> {
  return (await readdir(join(root, "current"))).includes("001-tables.sql");
}

/** The parts of the first migration, in order: early current files, every function after those it calls, late current files. */
export async function assembleParts(root: string): Promise<readonly MigrationPart[]> {
  const current = await readParts(join(root, "current"));
  const early = current.filter(({ name }) => Number.parseInt(name, 10) < firstNumberAfterFunctions);
  const late = current.filter((part) => !early.includes(part));
  const functions = inCallOrder(await readParts(join(root, "functions")));
  const numbered = functions.map(({ name, sql }, index) => ({
    name: `${(firstNumberAfterFunctions + index).toString()}-${name}`,
    sql,
  }));
  const renumbered = late.map(({ name, sql }, index) => ({ name: name.replace(/^\d+/, `${900 + index}`), sql }));
  const parts = [...early, ...numbered, ...renumbered];
  for (const part of parts) checkPlaceholders(part);
  return parts;
}

/** The text of a committed file. */
export function committedText(parts: readonly MigrationPart[], previous: string | null = null): string {
  const body = parts.map(({ name, sql }) => `--! split: ${name}\n${sql.trim()}\n`).join("\n");
  return `--! Previous: ${previous ?? "-"}\n--! Hash: ${migrationHash(body, previous)}\n\n${body}`;
}

async function readParts(folder: string): Promise<readonly MigrationPart[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return await Promise.all(names.map(async (name) => ({ name, sql: await readFile(join(folder, name), "utf8") })));
}

// PostgreSQL looks into the body of an SQL function when it is created: what it calls must be there already.
function inCallOrder(functions: readonly MigrationPart[]): readonly MigrationPart[] {
  const byName = new Map(functions.map((part) => [basename(part.name, ".sql"), part]));
  const ordered = new Set<MigrationPart>();
  const visiting = new Set<MigrationPart>();
  const visit = (part: MigrationPart): void => {
    if (visiting.has(part)) return;
    visiting.add(part);
    for (const [, called = ""] of part.sql.matchAll(/:SCHEMA\.(\w+)\s*\(/g)) {
      const callee = byName.get(called);
      if (callee !== undefined) visit(callee);
    }
    ordered.add(part);
  };
  for (const part of functions) visit(part);
  return [...ordered];
}

// A schema name may hold any character, a quote included: its placeholder never stands inside a string.
function checkPlaceholders({ name, sql }: MigrationPart): void {
  for (const [index, line] of sql.split("\n").entries()) {
    const strings = line.replace(/--.*$/, "").match(/'(?:[^']|'')*'/g) ?? [];
    if (!strings.some((text) => text.includes(":SCHEMA"))) continue;
    throw new Error(`${name}:${index + 1}: :SCHEMA inside a string; use :SCHEMA_LITERAL, which brings its own quotes`);
  }
}
