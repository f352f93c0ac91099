/** What the schemas are compared with: a git commit or another folder. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { type LoadedSchemas, loadSchemas, schemasFromTexts } from "../load.js";
import type { QueueModel } from "../model.js";

const run = promisify(execFile);
const maxBytes = 256 * 1_048_576;

/** One earlier state. */
export interface Earlier {
  /** As findings name it. */
  readonly name: string;
  readonly queues: readonly QueueModel[];
  /** Whether the queues' settings are known; else only the version is. */
  readonly settings: boolean;
  /** Of a database: how many batches of this version it still holds. */
  readonly batches?: number;
}

/** Loads the base. `against` is `git:<ref>` or a folder. @throws Error when there is no such commit or folder. */
export async function loadEarlier(of: { against: string; cwd: string; schemas: string }): Promise<LoadedSchemas> {
  const { against, cwd, schemas } = of;
  if (!against.startsWith("git:")) {
    return loadSchemas({ directory: resolve(cwd, against), display: against });
  }
  const ref = against.slice("git:".length);
  // A ref that begins with a dash would be read as an option.
  if (ref === "" || ref.startsWith("-")) throw new Error(`${JSON.stringify(ref)} is no git commit`);
  const texts = await textsAt({ ref, cwd, schemas });
  return schemasFromTexts(texts, `${ref}:${schemas}`);
}

async function textsAt(of: { ref: string; cwd: string; schemas: string }): Promise<Map<string, string>> {
  const { ref, cwd } = of;
  const git = async (...args: string[]) => (await run("git", args, { cwd, maxBuffer: maxBytes })).stdout;
  const commit = (await git("rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`)).trim();
  const prefix = `${of.schemas.replace(/\/+$/, "")}/`;
  const listing = await git("ls-tree", "-r", "-z", "--name-only", commit, "--", prefix);
  const names = listing.split("\0").filter((name) => name.endsWith(".json"));
  const texts = new Map<string, string>();
  for (const name of names) {
    texts.set(name.slice(prefix.length), await git("show", `${commit}:./${name}`));
  }
  return texts;
}
