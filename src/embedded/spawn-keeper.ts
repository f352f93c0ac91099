/** Starts the keeper as a process of its own, so that it outlives whoever asked first and no signal of their terminal reaches it. */
import { spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PostriderError } from "../errors.js";
import { findBinaries } from "./binaries.js";
import type { KeeperRequest } from "./keeper.js";

/**
 * Starts a keeper and waits until it listens or has given way to another one.
 *
 * @throws PostriderError `ERR_EMBEDDED_UNAVAILABLE` where there is no binary for this platform
 */
export async function spawnKeeper(request: Omit<KeeperRequest, "binaries">): Promise<void> {
  const { directory, settings, adopt } = request;
  const told: KeeperRequest = { directory, settings, adopt, binaries: await findBinaries() };
  const log = await open(join(directory, "postgres.log"), "a");
  try {
    const child = spawn(process.execPath, [...keeperCommand(), JSON.stringify(told)], {
      cwd: directory,
      detached: true,
      stdio: ["ignore", "pipe", log.fd],
      windowsHide: true,
    });
    const fault = await new Promise<string | undefined>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      // Code 0: it gave way to another keeper.
      child.once("exit", (code, signal) =>
        resolve(code === 0 ? undefined : `it ended with ${signal ?? `code ${code}`}`),
      );
      child.stdout?.once("data", () => resolve(undefined));
    });
    if (fault !== undefined) {
      const text = `the embedded PostgreSQL's keeper did not start: ${fault}; see ${join(directory, "postgres.log")}`;
      throw new PostriderError("ERR_EMBEDDED_UNAVAILABLE", text);
    }
    child.stdout?.destroy();
    // Only now: a process with nothing else to do would end while it waits.
    child.unref();
  } finally {
    await log.close();
  }
}

// In the repository the keeper is TypeScript as this file is; the loader's address must not depend on the working directory.
function keeperCommand(): readonly string[] {
  const here = import.meta.url;
  const keeper = fileURLToPath(new URL(here.endsWith(".ts") ? "keeper.ts" : "keeper.js", here));
  return here.endsWith(".ts") ? ["--import", import.meta.resolve("tsx"), keeper] : [keeper];
}
