/** One scenario on one server: a database of its own, a slow network in between if wanted, every comparison measured. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { migrate } from "../src/backend/postgres/migrate.js";
import { startProxy } from "../test/support/proxy.js";
import { type ComparisonResult, measure } from "./measure.js";
import type { Bench, Scenario, Size } from "./scenario.js";
import type { SystemEntry } from "./systems/catalogue.js";

export interface RunOptions {
  readonly size: Size;
  readonly measureMs: number;
  readonly repeats: number;
  readonly peers: readonly SystemEntry[];
  /** Of the comparisons only those whose title has this in it. */
  readonly only?: string;
  /** Simulated round-trip time of the network to the database. */
  readonly rtt?: { readonly minMs: number; readonly maxMs: number };
  readonly note: (text: string) => void;
  /** Told of each comparison when it has been measured. */
  readonly measured: (result: ComparisonResult) => unknown;
}

/** @param serverUrl - a server on which a database may be made */
export async function runScenario(
  scenario: Scenario,
  serverUrl: string,
  options: RunOptions,
): Promise<readonly ComparisonResult[]> {
  const { size, measureMs, peers, note, rtt } = options;
  const database = await freshDatabase(serverUrl);
  const network = rtt && (await startProxy(database.connectionString, { rtt }));
  const bench: Bench = {
    connectionString: network?.connectionString ?? database.connectionString,
    directConnectionString: database.connectionString,
    size,
    measureMs,
    peers,
    note,
    roundTrips: () => network?.roundTrips(),
  };
  try {
    const results: ComparisonResult[] = [];
    const comparisons = await scenario.prepare(bench);
    const wanted = comparisons.filter(({ title }) => title.includes(options.only ?? ""));
    if (wanted.length === 0) {
      const titles = comparisons.map(({ title }) => title).join("; ");
      throw new Error(`no comparison of ${scenario.name} has "${options.only}" in its title; there are: ${titles}`);
    }
    for (const comparison of wanted) {
      note(comparison.title);
      const result = await measure(comparison, { repeats: options.repeats, warmUp: size !== "tiny", note });
      await options.measured(result);
      results.push(result);
    }
    return results;
  } finally {
    await network?.stop();
    await database.drop();
  }
}

async function freshDatabase(serverUrl: string) {
  const name = `postrider_bench_${randomBytes(4).toString("hex")}`;
  const admin = new pg.Client(serverUrl);
  await admin.connect();
  await admin.query(`create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const drop = async () => {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
  };
  try {
    await migrate({ database: { connectionString: url.href } });
  } catch (error) {
    await drop();
    throw error;
  }
  return { connectionString: url.href, drop };
}
