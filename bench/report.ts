/** What was measured, as a table for people and as JSON with everything one needs to judge it. */
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import pg from "pg";
import type { ComparisonResult } from "./measure.js";

export interface Report {
  readonly scenario: string;
  readonly machine: object;
  readonly server: object;
  readonly commit: string;
  readonly measureMs: number;
  readonly results: readonly ComparisonResult[];
}

export async function describeServer(connectionString: string): Promise<object> {
  const client = new pg.Client(connectionString);
  await client.connect();
  const { rows } = await client.query(
    "select name, setting from pg_settings where name in ('server_version', 'fsync', 'synchronous_commit', 'shared_buffers', 'max_connections', 'commit_delay')",
  );
  await client.end();
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

export function describeMachine(): object {
  const [cpu] = cpus();
  return { cpu: cpu?.model, cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), node: process.version };
}

export function currentCommit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}

export function tableOf({ title, unit, repeats, measurements }: ComparisonResult): string {
  const table = new Table({ head: [title, `${unit}, median of ${repeats}`, "lowest", "highest", "ratio", "promised"] });
  for (const { contender, median, lowest, highest, ratio, promised, kept } of measurements) {
    const verdict = promised === undefined ? "" : `${promised} ${kept ? "kept" : "NOT KEPT"}`;
    table.push([contender, rounded(median), rounded(lowest), rounded(highest), ratio.toFixed(2), verdict]);
  }
  return table.toString();
}

export async function save(report: Report): Promise<string> {
  const folder = join(import.meta.dirname, "results");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${report.scenario}.json`);
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  return file;
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3);
}
