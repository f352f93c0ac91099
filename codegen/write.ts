/**
 * The only file that writes: what differs, and away with what nobody generates any more. Files are read and written one
 * after the other without a promise each: of thousands of small files, waiting is most of the time.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { generatedMapKey, generatedMark } from "./emit/header.js";
import { compareText } from "./problem.js";

/** How the output folder differs from what the schemas give. Paths are below the folder, sorted. */
export interface Difference {
  readonly missing: readonly string[];
  readonly stale: readonly string[];
  /** Files with our header that no schema gives any more. */
  readonly orphan: readonly string[];
  readonly unchanged: number;
  /** Of each stale file, the first lines that differ: what is there (`-`) and what should be (`+`). */
  readonly firstDifferences: Readonly<Record<string, readonly string[]>>;
}

/** Compares without writing. */
export async function compareOutput(directory: string, files: ReadonlyMap<string, string>): Promise<Difference> {
  const present = await listOutput(directory);
  const missing: string[] = [];
  const stale: string[] = [];
  const firstDifferences: Record<string, readonly string[]> = {};
  for (const [path, text] of files) {
    const there = present.has(path) ? readFileSync(join(directory, path), "utf8") : undefined;
    if (there === undefined) missing.push(path);
    if (there === undefined || there === text) continue;
    stale.push(path);
    firstDifferences[path] = firstDifference(there, text);
  }
  const orphan: string[] = [];
  for (const path of present) {
    if (!files.has(path) && isOurs(join(directory, path))) orphan.push(path);
  }
  const unchanged = files.size - missing.length - stale.length;
  for (const paths of [missing, stale, orphan]) paths.sort(compareText);
  return { missing, stale, orphan, unchanged, firstDifferences };
}

function firstDifference(there: string, wanted: string): string[] {
  const [old, fresh] = [there.split("\n"), wanted.split("\n")];
  const at = old.findIndex((line, index) => line !== fresh[index]);
  const line = at < 0 ? old.length : at;
  const shown = (lines: string[]) => lines[line]?.slice(0, 160) ?? "(the end of the file)";
  return [`${line + 1} - ${shown(old)}`, `${line + 1} + ${shown(fresh)}`];
}

/** Writes what is missing or stale and deletes orphans. A file that is there is replaced whole, through a rename. */
export async function writeOutput(directory: string, files: ReadonlyMap<string, string>): Promise<Difference> {
  const difference = await compareOutput(directory, files);
  const { missing, stale } = difference;
  for (const folder of new Set(missing.map((path) => dirname(join(directory, path))))) {
    mkdirSync(folder, { recursive: true });
  }
  // Nobody reads yet what was not there; should this be cut short, the next run finds the rest stale.
  for (const path of missing) createFile(join(directory, path), files.get(path) ?? "");
  for (const path of stale) replaceFile(join(directory, path), files.get(path) ?? "");
  for (const path of difference.orphan) rmSync(join(directory, path), { force: true });
  return difference;
}

// What is no plain file, a link for one, is not listed as present, and is not written through.
function createFile(path: string, text: string): void {
  try {
    writeFile(path, text, "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    replaceFile(path, text);
  }
}

// An editor or a bundler that reads meanwhile sees the old file or the new one, never half of it.
function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFile(temporary, text);
  renameSync(temporary, path);
}

// As bytes: Node writes a string more slowly.
function writeFile(path: string, text: string, flag: "w" | "wx" = "w"): void {
  writeFileSync(path, Buffer.from(text), { flag });
}

/** The files of an output folder that may be ours, by path. */
export async function listOutput(directory: string): Promise<Set<string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile() && /\.(?:js|d\.ts|d\.ts\.map)$/.test(entry.name))
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join("/"));
  return new Set(paths);
}

function isOurs(path: string): boolean {
  const text = readFileSync(path, "utf8");
  if (path.endsWith(".map")) return text.includes(`"${generatedMapKey}"`);
  return text.slice(0, 1_000).includes(generatedMark);
}
