/** `npm run bench -- <scenario|all>`: measures contenders side by side on one server. */
import { execFileSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { startEmbeddedPostgres } from "../src/embedded/embedded.js";
import type { ComparisonResult } from "./measure.js";
import { positive, range } from "./option-values.js";
import { savePage } from "./page.js";
import { currentCommit, describeMachine, describeServer, type Report, save, tableOf } from "./report.js";
import { runScenario } from "./run-scenario.js";
import type { Scenario, Size } from "./scenario.js";
import { installedPeers, nodeOfSystems, postrider } from "./systems/catalogue.js";

interface Options {
  readonly measureMs: number;
  readonly repeats: number;
  readonly only?: string;
  readonly remark?: string;
  readonly rtt?: { readonly minMs: number; readonly maxMs: number };
  readonly tiny?: true;
  readonly long?: true;
  readonly peers: boolean;
  readonly save: boolean;
  readonly json?: true;
}

const scenarioFolder = join(import.meta.dirname, "scenarios");

async function scenarioNames(): Promise<readonly string[]> {
  const files = await readdir(scenarioFolder);
  return files.filter((file) => file.endsWith(".ts")).map((file) => file.slice(0, -3));
}

async function loadScenario(name: string): Promise<Scenario> {
  const names = await scenarioNames();
  if (!names.includes(name)) throw new Error(`no scenario "${name}"; there are: ${names.join(", ")}, all`);
  const { scenario } = (await import(join(scenarioFolder, `${name}.ts`))) as { scenario: Scenario };
  return scenario;
}

async function report(name: string, options: Options, serverUrl: string): Promise<void> {
  const scenario = await loadScenario(name);
  const size: Size = options.tiny ? "tiny" : options.long ? "long" : "full";
  const note = (text: string) => void process.stderr.write(`  ${text}\n`);
  process.stderr.write(`\n${scenario.name}: ${scenario.description}\n`);
  const peers = options.peers ? installedPeers() : [];
  if (options.peers && peers.length === 0) note("no peers: npm ci --prefix bench/peers");
  const { measureMs, rtt, only, remark } = options;
  const network = rtt && `${rtt.minMs} to ${rtt.maxMs}`;
  const narrowed = [only ?? [], network === undefined ? [] : `rtt ${network}`].flat();
  const conditions: Omit<Report, "results"> = {
    scenario: scenario.name,
    description: scenario.description,
    at: new Date().toISOString(),
    commit: currentCommit(),
    machine: describeMachine(),
    server: await describeServer(serverUrl),
    settings: { size, measureMs, ...(network && { "network, ms a round trip": network }), ...(remark && { remark }) },
    systems: Object.fromEntries([postrider, ...peers].map(({ title, version }) => [title, version])),
    systemsRunOn:
      nodeOfSystems() === process.execPath ? process.version : `${versionOf(nodeOfSystems())}, the npm package node`,
  };
  const soFar: ComparisonResult[] = [];
  // After each comparison: a run of an hour that is broken off has said something.
  const measured = async (result: ComparisonResult) => {
    soFar.push(result);
    if (!options.json)
      process.stdout.write(`${tableOf(result)}
`);
    if (options.save) note(`saved to ${await save({ ...conditions, results: soFar }, narrowed)}`);
  };
  const results = await runScenario(scenario, serverUrl, { ...options, size, peers, note, measured });
  if (options.json)
    process.stdout.write(`${JSON.stringify({ ...conditions, results } satisfies Report)}
`);
}

function versionOf(node: string): string {
  return execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
}

async function main(name: string, given: Options): Promise<void> {
  // Figures that mean nothing have no place in the report.
  const options = given.tiny ? { ...given, save: false } : given;
  const names = name === "all" ? await scenarioNames() : [name];
  const server = await startEmbeddedPostgres({ directory: join(import.meta.dirname, "..", ".postrider", "bench") });
  try {
    for (const each of names) await report(each, options, server.connectionString);
  } finally {
    await server.stop();
  }
  if (options.save) process.stderr.write(`  the report: ${await savePage()}\n`);
}

await new Command("bench")
  .description(
    "Measures the product beside plain SQL and its peers, on the embedded PostgreSQL or the one of DATABASE_URL.",
  )
  .argument("<scenario>", "its name, or all")
  .option("--measure-ms <ms>", "time of one measurement", positive, 2_000)
  .option("--repeats <n>", "measurements of each contender", positive, 5)
  .option("--only <text>", "of the comparisons, those whose title has this in it")
  .option("--remark <text>", "what else is to be known of this run, for the report")
  .option("--rtt <min-max>", "simulated network: ms added to each round trip to the database", range)
  .option("--tiny", "seconds in all: shows that it works, measures nothing, saves nothing")
  .option("--long", "also what takes ten minutes and more")
  .option("--no-peers", "only the product and plain SQL")
  .option("--no-save", "leave bench/results alone")
  .option("--json", "print JSON instead of tables")
  .action(main)
  .parseAsync();
