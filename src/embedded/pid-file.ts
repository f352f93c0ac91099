/** `postmaster.pid`: PostgreSQL's own word on which process runs on a data directory, at which port, and whether it is ready. */
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A server that runs, or did when it wrote its file. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
}

/** What the file says; nothing if there is none. Its process may be gone. */
// Lines of postmaster.pid: pid, data directory, start time, port, socket directory, address, shared memory, status.
export async function readPidFile(data: string): Promise<(RunningServer & { ready: boolean }) | undefined> {
  const text = await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "");
  const lines = text.split("\n");
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === "ready" };
}

/** Removes a file that a dead server left, and that PostgreSQL would take for a living one. */
export async function removePidFile(data: string): Promise<void> {
  await rm(join(data, "postmaster.pid"), { force: true });
}

/** Whether the process of this number is a PostgreSQL: after a reboot it may be anything. */
export async function isPostgres(pid: number): Promise<boolean> {
  if (process.platform === "win32") return true;
  const { stdout } = await run("ps", ["-o", "args=", "-p", String(pid)]).catch(async () => ({
    // A bare Linux has no ps. A zombie's file is empty.
    stdout: await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
  }));
  // A zombie is only a number that its parent has not asked for yet.
  return stdout.includes("postgres") && !stdout.includes("<defunct>");
}

/** Whether a process of this number exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
