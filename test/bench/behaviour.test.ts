/** The benchmark scenarios about time, sharing and idling; every scenario that throughput.test.ts leaves is here. */
import test from "node:test";
import { testServer } from "../support/test-server.js";
import { scenarioNames, testScenario } from "./run-tiny.js";
import { throughputScenarios } from "./throughput-scenarios.js";

const server = await testServer();
test.after(() => server.stop());
for (const name of await scenarioNames()) {
  if (!throughputScenarios.includes(name)) testScenario(name, server.connectionString);
}
