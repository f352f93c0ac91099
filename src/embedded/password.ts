/** The server's password, made once per directory. Who can read the file may use the server and talk to its keeper. */
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { PostriderError } from "../errors.js";

/**
 * Reads the password at `path`, making it first if there is none.
 *
 * @throws PostriderError `ERR_EMBEDDED_UNAVAILABLE` if it belongs to another user
 */
export async function readPassword(path: string): Promise<string> {
  await writeFile(path, `${randomBytes(18).toString("hex")}\n`, { flag: "wx", mode: 0o600 }).catch(unlessExists);
  // Another process may have made the file and not have written it yet.
  for (let look = 0; look < 100; look += 1) {
    const password = (await readFile(path, "utf8").catch((cause) => unreadable(path, cause))).trim();
    if (password !== "") return password;
    await sleep(10);
  }
  throw new PostriderError("ERR_EMBEDDED_UNAVAILABLE", `${path} is empty; remove its folder to begin anew`);
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

function unreadable(path: string, cause: unknown): never {
  const text = `cannot read ${path}: the folder belongs to another user; choose another directory, or set DATABASE_URL`;
  throw new PostriderError("ERR_EMBEDDED_UNAVAILABLE", text, { cause });
}
