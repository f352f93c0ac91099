/** The processes of this machine that run; zombies do not. A bare Linux has no `ps`, and others have no `/proc`. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A process and its command line. */
export interface SystemProcess {
  readonly pid: number;
  readonly args: string;
}

/** All of them, at this moment. */
export function systemProcesses(): readonly SystemProcess[] {
  const all = existsSync("/proc/self/cmdline") ? fromProc() : fromPs();
  return all.filter(({ args }) => args !== "" && !args.includes("<defunct>"));
}

function fromProc(): readonly SystemProcess[] {
  const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return numbers.map((name) => ({ pid: Number(name), args: commandLine(name) }));
}

// A zombie's is empty, and one that ends meanwhile has none.
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

function fromPs(): readonly SystemProcess[] {
  const { stdout } = spawnSync("ps", ["-axo", "pid=,args="], { encoding: "utf8" });
  return stdout.split("\n").map((line) => {
    const [, pid = "0", args = ""] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return { pid: Number(pid), args };
  });
}
