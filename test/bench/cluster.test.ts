/** The benchmark scenarios of several processes that share a queue, and of a database far away. */
import test from "node:test";
import { testServer } from "../support/test-server.js";
import { testScenario } from "./run-tiny.js";
import { clusterScenarios } from "./scenario-groups.js";

const server = await testServer();
test.after(() => server.stop());
for (const name of clusterScenarios) testScenario(name, server.connectionString);
