/** Makes the data directory of a server, whole or not at all. */
import { execFile } from "node:child_process";
import { chown, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { type ServerSite, serverEnvironment } from "./server-site.js";

const run = promisify(execFile);

/** Runs initdb. UTF-8, one superuser `postgres`, nobody without the password. */
export async function makeData({ data, binaries, user }: ServerSite, password: string): Promise<void> {
  // Under another name until it is whole: a process that dies half-way leaves nothing that looks like a database.
  const partial = `${data}.partial`;
  const passwordFile = `${data}.password`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(dirname(data), { recursive: true });
  await mkdir(partial, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user.uid !== undefined && user.gid !== undefined) {
    await chown(partial, user.uid, user.gid);
    await chown(passwordFile, user.uid, user.gid);
  }
  // The builtin locale needs nothing from the system and sorts the same everywhere.
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const access = ["--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
  try {
    const options = { ...user, cwd: dirname(data), env: serverEnvironment() };
    await run(binaries.initdb, ["-D", partial, "--no-instructions", ...locale, ...access], options);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(partial, data);
}
