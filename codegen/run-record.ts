/**
 * What the last run was made from and what it left, in `node_modules/.cache/postrider`. When both are as they were, a run has
 * nothing to do. Losing the record costs a full run, nothing else.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { GenerateResult } from "./generate.js";
import type { LoadedSchemas } from "./load.js";
import type { Problem } from "./problem.js";
import type { ProjectPaths } from "./project-paths.js";
import { listOutput } from "./write.js";

interface RunRecord {
  readonly fingerprint: string;
  /** Size and time of each output file; whoever edits one changes them. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly queues: number;
  readonly remarks: readonly Problem[];
}

/** Packages whose version decides about the bytes of the output. */
const decisivePackages = ["ajv", "ajv-formats", "json-schema-to-typescript", "ts-morph"];

/** A hash of everything the output is made from: schemas, folders, the generator itself. */
export async function inputFingerprint(loaded: LoadedSchemas, paths: ProjectPaths): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([paths.display, paths.schemasFromOut, packageVersions()]));
  for (const name of (await readdir(import.meta.dirname, { recursive: true })).sort()) {
    if (/\.[jt]s$/.test(name)) hash.update(await readFile(join(import.meta.dirname, name)));
  }
  for (const [path, file] of loaded.files) hash.update(JSON.stringify([path, file.text]));
  // A file that could not be read or parsed is not among the files.
  return hash.update(JSON.stringify(loaded.problems)).digest("hex");
}

/** The result of doing nothing, when the last run's input and output are untouched. */
export async function readRun(paths: ProjectPaths, fingerprint: string): Promise<GenerateResult | undefined> {
  const text = await readFile(recordPath(paths), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const record = JSON.parse(text) as RunRecord;
  if (record.fingerprint !== fingerprint) return undefined;
  const present = await listOutput(paths.out);
  const names = Object.keys(record.outputs);
  if (present.size !== names.length) return undefined;
  for (const name of names) if (signature(paths, name) !== record.outputs[name]) return undefined;
  const { queues, remarks } = record;
  return { missing: [], stale: [], orphan: [], unchanged: names.length, firstDifferences: {}, queues, remarks };
}

/** Remembers a run. A project without `node_modules` has no place for it, and no need. */
export async function recordRun(
  paths: ProjectPaths,
  run: { fingerprint: string; files: readonly string[]; queues: number; remarks: readonly Problem[] },
): Promise<void> {
  const hasModules = await stat(join(paths.cwd, "node_modules")).catch(() => undefined);
  if (hasModules === undefined) return;
  const outputs: Record<string, string> = {};
  for (const name of run.files) outputs[name] = signature(paths, name) ?? "";
  const record: RunRecord = { fingerprint: run.fingerprint, outputs, queues: run.queues, remarks: run.remarks };
  await mkdir(recordFolder(paths), { recursive: true });
  await writeFile(recordPath(paths), JSON.stringify(record)).catch(() => undefined);
}

function signature(paths: ProjectPaths, name: string): string | undefined {
  const found = statSync(join(paths.out, name), { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.size} ${found.mtimeMs}`;
}

function recordFolder(paths: ProjectPaths): string {
  return join(paths.cwd, "node_modules/.cache/postrider");
}

// Two output folders in one project have a record each.
function recordPath(paths: ProjectPaths): string {
  const key = createHash("sha256").update(`${paths.schemas}\n${paths.out}`).digest("hex").slice(0, 16);
  return join(recordFolder(paths), `codegen-${key}.json`);
}

function packageVersions(): string[] {
  const require = createRequire(import.meta.url);
  return decisivePackages.map((name) => {
    try {
      return (require(`${name}/package.json`) as { version: string }).version;
    } catch {
      return "";
    }
  });
}
