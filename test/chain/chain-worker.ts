/** A worker of five queues that notes every step it runs in a table, before the step is acknowledged. Lives until it is killed. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { createRuntime } from "../../src/create-runtime.js";
import { keptLog } from "../support/client.js";
import type { TestMessage } from "../support/queue-definition.js";
import { report } from "../support/report.js";
import { chainQueues } from "./chain-queues.js";

const [connectionString = "", longestMs = "20"] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 4 });
const queues = chainQueues;
const mq = createRuntime({ queues, connectionString, pollMs: 500, heartbeatMs: 250, poolSize: 4, logger: keptLog() });
for (const [step, { name }] of queues.entries()) {
  mq.queue(name).listen.each(async (message, { id }) => {
    const { n: chain } = message as TestMessage;
    await pool.query("insert into step_run (chain, step, message_id) values ($1, $2, $3)", [chain, step, id]);
    await sleep(Math.random() * Number(longestMs));
  });
}
await mq.start();
report("started");
