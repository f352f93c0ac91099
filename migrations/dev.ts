/**
 * `npm run migrate:dev -- watch`: graphile-migrate on the embedded server. Until the first migration is released it works on
 * a staged copy, in which everything is in `current/` behind a reset; afterwards on `migrations/` itself.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { copyFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres } from "../src/embedded/embedded.js";
import { assembleParts, isFirstPending } from "./assemble.js";

const migrations = import.meta.dirname;
const root = join(migrations, "..");
const staged = join(root, ".postrider", "graphile-migrate");

const isReleased = !(await isFirstPending(migrations));
const args = process.argv.slice(2);
if (!isReleased && args[0] === "commit") {
  throw new Error(
    "the first migration is not released yet: npm run migrate:build rewrites it, graphile-migrate would add a second",
  );
}
if (!isReleased) {
  await stage();
  if (args[0] === "watch") restageOnChange();
}
const server = await startEmbeddedPostgres({ directory: join(root, ".postrider") });
await createDatabases("postrider_dev", "postrider_shadow");
const child = spawn("npx", ["graphile-migrate", "--config", join(root, ".gmrc"), ...args], {
  cwd: isReleased ? root : staged,
  stdio: "inherit",
  env: {
    ...process.env,
    DATABASE_URL: address("postrider_dev"),
    SHADOW_DATABASE_URL: address("postrider_shadow"),
    ROOT_DATABASE_URL: server.connectionString,
  },
});
// Ctrl-C reaches graphile-migrate by itself; this process ends after it.
process.on("SIGINT", () => undefined);
const [code] = await once(child, "exit");
await server.stop();
process.exit(code ?? 1);

// current/ is run again and again on one database: it has to begin with nothing, as long as nothing of it is released.
async function stage(): Promise<void> {
  const folder = join(staged, "migrations", "current");
  const parts = [{ name: "1-reset.sql", sql: "drop schema if exists :SCHEMA cascade;\ncreate schema :SCHEMA;\n" }];
  for (const { name, sql } of await assembleParts(migrations)) {
    parts.push({ name: name.replace(/^\d+/, String(parts.length + 1)), sql });
  }
  await mkdir(folder, { recursive: true });
  await copyFile(join(migrations, "create-schema.sql"), join(staged, "migrations", "create-schema.sql"));
  for (const name of await readdir(folder)) {
    if (!parts.some((part) => part.name === name)) await rm(join(folder, name));
  }
  await Promise.all(parts.map(({ name, sql }) => writeFile(join(folder, name), sql)));
}

function restageOnChange(): void {
  for (const folder of ["current", "functions"]) {
    watch(join(migrations, folder), () => {
      // A file half written does not assemble; the next event comes when it is whole.
      stage().catch((error: Error) => process.stderr.write(`${error.message}\n`));
    }).unref();
  }
}

async function createDatabases(...names: readonly string[]): Promise<void> {
  const client = new pg.Client(server.connectionString);
  await client.connect();
  for (const name of names) {
    const { rows } = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (rows.length === 0) await client.query(`create database ${name}`);
  }
  await client.end();
}

function address(database: string): string {
  const url = new URL(server.connectionString);
  url.pathname = `/${database}`;
  return url.href;
}
