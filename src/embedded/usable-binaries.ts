/** Makes the installed programs usable: completes what an install script would have done, and copies what cannot be reached. */
import { chmod, cp, mkdir, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Binaries } from "./binaries.js";
import { canReach, type ServerUser } from "./server-user.js";

/** The programs as this user can run them: where they are installed, or else a copy in `place`. */
export async function usableBinaries(binaries: Binaries, user: ServerUser, place: string): Promise<Binaries> {
  const isReachable = await canReach(binaries.postgres, user);
  if (isReachable && (await completeInstall(binaries))) return binaries;
  const copy = await copyBinaries(binaries, place);
  await completeInstall(copy);
  return copy;
}

// The package's install script makes the links between versions of a library. npm runs such scripts only where the project
// allows them, and without the links the server does not start: "libicui18n.so.60: cannot open shared object file".
async function completeInstall({ folder, initdb, postgres }: Binaries): Promise<boolean> {
  const list = await readFile(join(folder, "pg-symlinks.json"), "utf8").catch(() => "[]");
  try {
    for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
      const link = join(folder, relative("native", target));
      await symlink(relative(dirname(target), source), link).catch(unlessExists);
    }
    for (const program of [initdb, postgres]) {
      const { mode } = await stat(program);
      if ((mode & 0o555) !== 0o555) await chmod(program, mode | 0o555);
    }
    return true;
  } catch {
    // Installed by somebody else, or on a read-only disk.
    return false;
  }
}

async function copyBinaries(binaries: Binaries, place: string): Promise<Binaries> {
  const folder = join(place, `programs-${binaries.version}`);
  const copy = {
    ...binaries,
    folder,
    initdb: join(folder, "bin", "initdb"),
    postgres: join(folder, "bin", "postgres"),
  };
  if (await stat(folder).catch(() => undefined)) return copy;
  // Whole or not at all: a keeper of another directory may copy at the same time.
  const partial = `${folder}.${process.pid}`;
  await mkdir(place, { recursive: true });
  await cp(binaries.folder, partial, { recursive: true, verbatimSymlinks: true });
  await rename(partial, folder).catch(() => rm(partial, { recursive: true, force: true }));
  return copy;
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
