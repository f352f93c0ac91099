/** The benchmark scenarios about how much passes through. */
import assert from "node:assert/strict";
import test from "node:test";
import { runScenario } from "../../bench/run-scenario.js";
import { testServer } from "../support/test-server.js";
import { scenarioNamed, testScenario, tiny } from "./run-tiny.js";
import { throughputScenarios } from "./scenario-groups.js";

const server = await testServer();
test.after(() => server.stop());
for (const name of throughputScenarios) testScenario(name, server.connectionString);

test("a slow network is felt, and its round trips are counted", async () => {
  const rtt = { minMs: 5, maxMs: 5 };
  const results = await runScenario(await scenarioNamed("publish"), server.connectionString, { ...tiny, rtt });
  for (const { title, measurements } of results) {
    for (const { contender, also } of measurements) {
      assert.ok((also["p50 of a call, ms"] ?? 0) > 4, `${title}, ${contender}`);
      assert.ok((also["round trips a publish"] ?? 0) > 0, `${title}, ${contender}`);
    }
  }
});
