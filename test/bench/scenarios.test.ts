/** Every benchmark scenario runs, in a form that takes seconds and measures nothing. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pageOf } from "../../bench/page.js";
import { describeMachine, describeServer, type Report } from "../../bench/report.js";
import { type RunOptions, runScenario } from "../../bench/run-scenario.js";
import type { Scenario } from "../../bench/scenario.js";
import { testServer } from "../support/test-server.js";

const server = await testServer();
test.after(() => server.stop());
const folder = join(import.meta.dirname, "..", "..", "bench", "scenarios");
const files = (await readdir(folder)).filter((file) => file.endsWith(".ts"));

const tiny: RunOptions = {
  size: "tiny",
  measureMs: 150,
  repeats: 1,
  peers: [],
  note: () => undefined,
  measured: () => undefined,
};

async function scenarioOf(file: string): Promise<Scenario> {
  return ((await import(join(folder, file))) as { scenario: Scenario }).scenario;
}

for (const file of files) {
  test(`the scenario ${file} gives a figure for every contender`, { timeout: 60_000 }, async () => {
    const scenario = await scenarioOf(file);
    assert.equal(`${scenario.name}.ts`, file);
    const results = await runScenario(scenario, server.connectionString, tiny);
    assert.notEqual(results.length, 0);
    for (const { title, measurements, winner } of results) {
      assert.ok(
        measurements.some(({ contender }) => contender.startsWith("postrider")),
        title,
      );
      assert.ok(
        measurements.some(({ contender }) => contender === winner),
        title,
      );
      for (const { contender, median } of measurements) assert.ok(median >= 0, `${title}, ${contender}: ${median}`);
    }
    const page = pageOf([await reportOf(scenario, results)]);
    for (const { title } of results) assert.ok(page.includes(title.replaceAll(">", "&gt;")), title);
  });
}

test("a slow network is felt, and counted: at most one round trip a publish", async () => {
  const results = await runScenario(await scenarioOf("publish.ts"), server.connectionString, {
    ...tiny,
    rtt: { minMs: 5, maxMs: 5 },
  });
  for (const { title, measurements } of results) {
    for (const { contender, also } of measurements) {
      assert.ok((also["p50 of a call, ms"] ?? 0) > 4, `${title}, ${contender}`);
      assert.ok((also["round trips a publish"] ?? 0) > 0, `${title}, ${contender}`);
    }
  }
});

async function reportOf(scenario: Scenario, results: Report["results"]): Promise<Report> {
  return {
    scenario: scenario.name,
    description: scenario.description,
    at: new Date().toISOString(),
    commit: "test",
    machine: describeMachine(),
    server: await describeServer(server.connectionString),
    settings: {},
    systems: {},
    systemsRunOn: process.version,
    results,
  };
}
