/** The benchmark scenarios about time and idling; every scenario that is in no group is here. */
import test from "node:test";
import { testServer } from "../support/test-server.js";
import { scenarioNames, testScenario } from "./run-tiny.js";
import { clusterScenarios, throughputScenarios } from "./scenario-groups.js";

const server = await testServer();
test.after(() => server.stop());
const elsewhere = [...throughputScenarios, ...clusterScenarios];
for (const name of await scenarioNames()) {
  if (!elsewhere.includes(name)) testScenario(name, server.connectionString);
}
