/** `npm run bench -- <scenario|all>`: measures contenders side by side on one server. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import pg from "pg";
import { migrate } from "../src/backend/postgres/migrate.js";
import { startEmbeddedPostgres } from "../src/embedded/embedded.js";
import { type ComparisonResult, measure } from "./measure.js";
import { currentCommit, describeMachine, describeServer, save, tableOf } from "./report.js";
import type { Scenario } from "./scenario.js";

interface Options {
  readonly measureMs: string;
  readonly repeats: string;
  readonly save: boolean;
  readonly json: boolean;
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

async function runScenario(name: string, options: Options): Promise<void> {
  const scenario = await loadScenario(name);
  const measureMs = Number(options.measureMs);
  process.stderr.write(`\n${scenario.name}: ${scenario.description}\n`);
  const directory = join(import.meta.dirname, "..", ".postrider", "bench");
  const server = await startEmbeddedPostgres({ directory });
  const database = await freshDatabase(server.connectionString);
  try {
    const note = (text: string) => void process.stderr.write(`  ${text}\n`);
    const results: ComparisonResult[] = [];
    for (const comparison of await scenario.prepare({ ...database, measureMs, note })) {
      const result = await measure(comparison, Number(options.repeats));
      results.push(result);
      if (!options.json) process.stdout.write(`${tableOf(result)}\n`);
    }
    const report = {
      scenario: scenario.name,
      machine: describeMachine(),
      server: await describeServer(database.connectionString),
      commit: currentCommit(),
      measureMs,
      results,
    };
    if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
    if (options.save) note(`saved to ${await save(report)}`);
  } finally {
    await database.drop();
    await server.stop();
  }
}

async function freshDatabase(serverUrl: string) {
  const name = `postrider_bench_${process.pid}`;
  const admin = new pg.Client(serverUrl);
  await admin.connect();
  await admin.query(`drop database if exists ${name} with (force)`);
  await admin.query(`create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate({ database: { connectionString: url.href } });
  const drop = async () => {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
  };
  return { connectionString: url.href, drop };
}

await new Command("bench")
  .description("Measures the product beside plain SQL, on the embedded PostgreSQL or the one of DATABASE_URL.")
  .argument("<scenario>", "its name, or all")
  .option("--measure-ms <ms>", "time of one measurement", "2000")
  .option("--repeats <n>", "measurements of each contender", "5")
  .option("--no-save", "leave bench/results alone")
  .option("--json", "print JSON instead of tables", false)
  .action(async (name: string, options: Options) => {
    const names = name === "all" ? await scenarioNames() : [name];
    for (const each of names) await runScenario(each, options);
  })
  .parseAsync();
