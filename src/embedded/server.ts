/** The PostgreSQL server of one directory: started, adopted if its keeper died, stopped. */
import { type ChildProcess, spawn } from "node:child_process";
import { open, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { answers, freePort } from "./local-port.js";
import { makeData } from "./make-data.js";
import { isAlive, isPostgres, type RunningServer, readPidFile, removePidFile } from "./pid-file.js";
import { type ServerSite, serverEnvironment } from "./server-site.js";

const startLimitMs = 60_000;
const stopLimitMs = 30_000;
const zombieLimitMs = 200;

// A small server for one developer. Durability is real: fsync and full_page_writes stay on, as a test of crashes expects.
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 200,
  shared_buffers: "128MB",
  max_wal_size: "512MB",
  log_checkpoints: "off",
  jit: "off",
};

/** A server that already runs on the data, whoever started it. What only looks like one is cleared away. */
export async function leftOverServer(site: ServerSite): Promise<RunningServer | undefined> {
  for (let waitedMs = 0; waitedMs < startLimitMs; waitedMs += 50) {
    const found = await readPidFile(site.data);
    if (found === undefined) return undefined;
    if (!isAlive(found.pid)) return undefined;
    if (found.ready && (await answers(found.port))) return found;
    // After a reboot the number may belong to anybody; PostgreSQL would refuse to start on this file.
    if (!(await isPostgres(found.pid))) return void (await removePidFile(site.data));
    await sleep(50);
  }
  throw new Error(`a PostgreSQL on ${site.data} neither answers nor ends`);
}

/** Starts the server, making its data first if there is none. */
export async function startServer(
  site: ServerSite,
  password: string,
  extra: Readonly<Record<string, string | number>>,
): Promise<RunningServer> {
  const made = await stat(join(site.data, "PG_VERSION")).catch(() => undefined);
  if (made === undefined) await makeData(site, password);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOn(await freePort(), site, extra);
    } catch (error) {
      // Between looking for a free port and binding it, somebody else may take it.
      if (attempt === 3 || !(error as Error).message.includes("Address already in use")) throw error;
    }
  }
}

async function startOn(
  port: number,
  site: ServerSite,
  extra: Readonly<Record<string, string | number>>,
): Promise<RunningServer> {
  const options = Object.entries({ ...settings, ...extra, port }).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  const log = await open(site.log, "a");
  const child = spawn(site.binaries.postgres, ["-D", site.data, ...options], {
    ...site.user,
    cwd: dirname(site.data),
    env: serverEnvironment(),
    stdio: ["ignore", log.fd, log.fd],
  });
  await log.close();
  await untilReady(site, child);
  return { pid: child.pid as number, port };
}

/** Stops the server, rolling back what is open (PostgreSQL's "fast"), and at its limit without a checkpoint. */
export async function stopServer(site: ServerSite, { pid }: RunningServer): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    if (!isAlive(pid)) return;
    process.kill(pid, signal);
    const isDone = async () => !isAlive(pid) || (await readPidFile(site.data))?.pid !== pid;
    if (!(await holdsWithin(isDone, stopLimitMs))) continue;
    // The file goes first, then the process; as a zombie it may stay where nothing reaps orphans.
    await holdsWithin(async () => !isAlive(pid), zombieLimitMs);
    return;
  }
}

async function holdsWithin(condition: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += 20) {
    if (await condition()) return true;
    await sleep(20);
  }
  return false;
}

async function untilReady(site: ServerSite, child: ChildProcess): Promise<void> {
  let fault: string | undefined;
  child.once("error", (error) => {
    fault = error.message;
  });
  child.once("exit", (code, signal) => {
    fault = `it ended with ${signal ?? `code ${code}`}`;
  });
  for (let waitedMs = 0; waitedMs < startLimitMs; waitedMs += 20) {
    const file = await readPidFile(site.data);
    if (file?.pid === child.pid && file?.ready) return;
    if (fault !== undefined) throw new Error(`${fault}; the last lines of ${site.log}:\n${await lastLines(site.log)}`);
    await sleep(20);
  }
  child.kill("SIGQUIT");
  throw new Error(`it was not ready after ${startLimitMs} ms; see ${site.log}`);
}

async function lastLines(path: string): Promise<string> {
  return (await readFile(path, "utf8").catch(() => "")).trimEnd().split("\n").slice(-5).join("\n");
}
