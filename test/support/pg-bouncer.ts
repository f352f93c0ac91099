/** A PgBouncer in transaction mode, all else as it comes, in front of the test server; absent where it is not installed. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface PgBouncer {
  readonly connectionString: string;
  stop(): Promise<void>;
}

/** Why it cannot be had here, for a test to skip with; false where it can. */
export function pgBouncerMissing(): string | false {
  if (spawnSync("pgbouncer", ["--version"]).status === 0) return false;
  return "pgbouncer is not installed (Debian: apt-get install pgbouncer)";
}

/** Starts one on a free port, in front of the server of `connectionString`. */
export async function startPgBouncer(connectionString: string): Promise<PgBouncer> {
  const server = new URL(connectionString);
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), "postrider-pgbouncer-"));
  // As root it changes to an unprivileged user before it reads this.
  await chmod(directory, 0o755);
  const settings = join(directory, "pgbouncer.ini");
  const { username, password, hostname } = server;
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${server.port} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
`,
  );
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn("pgbouncer", [...user, settings], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit");
  const lines = createInterface(child.stderr);
  let log = "";
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      log += `${line}\n`;
      if (line.includes("process up")) resolve();
    });
    void ended.then(() => reject(new Error(`pgbouncer ended at once:\n${log}`)), reject);
  });
  const ours = new URL(connectionString);
  ours.hostname = "127.0.0.1";
  ours.port = String(port);
  return {
    connectionString: ours.href,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

async function freePort(): Promise<number> {
  const door = createServer().listen(0, "127.0.0.1");
  await once(door, "listening");
  const { port } = door.address() as AddressInfo;
  door.close();
  await once(door, "close");
  return port;
}
