/** Runs benchmark scenarios in their tiny form, as tests. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pageOf } from "../../bench/page.js";
import { describeMachine, describeServer, type Report } from "../../bench/report.js";
import { type RunOptions, runScenario } from "../../bench/run-scenario.js";
import type { Scenario } from "../../bench/scenario.js";

const folder = join(import.meta.dirname, "..", "..", "bench", "scenarios");

export const tiny: RunOptions = {
  size: "tiny",
  measureMs: 150,
  repeats: 1,
  peers: [],
  note: () => undefined,
  measured: () => undefined,
};

export async function scenarioNames(): Promise<readonly string[]> {
  const files = await readdir(folder);
  return files.filter((file) => file.endsWith(".ts")).map((file) => file.slice(0, -3));
}

export async function scenarioNamed(name: string): Promise<Scenario> {
  const { scenario } = (await import(join(folder, `${name}.ts`))) as { scenario: Scenario };
  assert.equal(scenario.name, name);
  return scenario;
}

/** One test: every contender gets a figure, and the page shows every comparison. */
export function testScenario(name: string, serverUrl: string): void {
  test(`the scenario ${name} gives a figure for every contender`, { timeout: 90_000 }, async () => {
    const scenario = await scenarioNamed(name);
    const results = await runScenario(scenario, serverUrl, tiny);
    assert.notEqual(results.length, 0);
    const page = pageOf([await reportOf(scenario, results, serverUrl)]);
    for (const { title, measurements, winner } of results) {
      const names = measurements.map(({ contender }) => contender);
      assert.ok(
        names.some((contender) => contender.startsWith("postrider")),
        title,
      );
      assert.ok(names.includes(winner), title);
      for (const { contender, median } of measurements) {
        assert.ok(Number.isFinite(median), `${title}, ${contender}: ${median}`);
      }
      assert.ok(page.includes(`<h3>${title}</h3>`), title);
    }
  });
}

async function reportOf(scenario: Scenario, results: Report["results"], serverUrl: string): Promise<Report> {
  return {
    scenario: scenario.name,
    description: scenario.description,
    at: new Date().toISOString(),
    commit: "test",
    machine: describeMachine(),
    server: await describeServer(serverUrl),
    settings: {},
    systems: {},
    systemsRunOn: process.version,
    results,
  };
}
