/** What was measured, as a table for people and as JSON with everything one needs to judge it. */
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import pg from "pg";
import type { ComparisonResult, JudgedPledge } from "./measure.js";
import { rounded } from "./rounded.js";

export interface Report {
  readonly scenario: string;
  readonly description: string;
  readonly at: string;
  readonly commit: string;
  readonly machine: Readonly<Record<string, unknown>>;
  readonly server: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Versions. */
  readonly systems: Readonly<Record<string, string>>;
  readonly systemsRunOn: string;
  readonly results: readonly ComparisonResult[];
}

export const resultsFolder = join(import.meta.dirname, "results");

const tellingSettings = [
  "server_version",
  "fsync",
  "synchronous_commit",
  "full_page_writes",
  "wal_sync_method",
  "shared_buffers",
  "max_connections",
];

export async function describeServer(connectionString: string): Promise<Readonly<Record<string, string>>> {
  const client = new pg.Client(connectionString);
  await client.connect();
  const { rows } = await client.query<{ name: string; shown: string }>(
    "select name, current_setting(name) as shown from pg_settings where name = any ($1) order by array_position($1, name)",
    [tellingSettings],
  );
  await client.end();
  return Object.fromEntries(rows.map(({ name, shown }) => [name, shown]));
}

export function describeMachine(): Readonly<Record<string, unknown>> {
  const [cpu] = cpus();
  return { cpu: cpu?.model, cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), node: process.version };
}

export function currentCommit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  try {
    const isChanged =
      git("status", "--porcelain", "--", "src", "migrations", "generated", "bench", ":!bench/results") !== "";
    return `${git("rev-parse", "--short", "HEAD")}${isChanged ? ", with changes that are not committed" : ""}`;
  } catch {
    return "unknown";
  }
}

export function tableOf({ title, unit, repeats, measurements, winner, pledges }: ComparisonResult): string {
  const also = Object.keys(measurements[0]?.also ?? {});
  const head = [title, `${unit}, median of ${repeats}`, "lowest to highest", "ratio", ...also];
  const table = new Table({ head, style: { head: [], border: [], compact: true } });
  for (const { contender, median, lowest, highest, ratio, also: more } of measurements) {
    table.push([
      contender === winner ? `${contender} *` : contender,
      rounded(median),
      `${rounded(lowest)} to ${rounded(highest)}`,
      rounded(ratio),
      ...also.map((name) => rounded(more[name] ?? Number.NaN)),
    ]);
  }
  return [
    table.toString(),
    ...pledges.map((pledge) => `  ${pledge.kept ? "held" : "NOT HELD"}: ${pledgeText(pledge)}`),
  ].join("\n");
}

/** What was measured for a pledge, and how much it may be. */
export function pledgeText({ contender, of, against, bound, better, measured }: JudgedPledge): string {
  const what = of === undefined ? contender : `${contender}, ${of}`;
  const limit = `${better === "more" ? "at least" : "at most"} ${rounded(bound)}`;
  if (against === undefined) return `${what}: ${rounded(measured)} (${limit})`;
  const others = against.length === 1 ? against[0] : `the best of ${against.join(", ")}`;
  return `${what}: ${rounded(measured)} times ${others} (${limit})`;
}

/**
 * @param narrowed - what makes it the result of a part of a scenario only, or of special conditions: it has a file of its own then
 * @returns the file
 */
export async function save(report: Report, narrowed: readonly string[]): Promise<string> {
  await mkdir(resultsFolder, { recursive: true });
  const parts = [report.scenario, ...narrowed.map((part) => part.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"))];
  const file = join(resultsFolder, `${parts.join(".")}.json`);
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  return file;
}
