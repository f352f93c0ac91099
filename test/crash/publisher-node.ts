/**
 * A publisher to be killed: publishes without end, alone and in transactions, and notes in a file what it was promised.
 * Synchronously, so that no promise it saw is missing from the file, and never before the promise.
 */
import { openSync, writeSync } from "node:fs";
import { createRuntime } from "../../src/create-runtime.js";
import { report } from "../support/report.js";
import { crashQueues } from "./crash-queues.js";

const [connectionString = "", notes = "", round = "0"] = process.argv.slice(2);
const file = openSync(notes, "a");
const mq = createRuntime({ connectionString, queues: crashQueues });
const first = Number(round) * 1_000_000;
let next = first;

async function publishAlone(): Promise<void> {
  for (;;) {
    const n = next++;
    await mq.queue("alone").publish({ n });
    writeSync(file, `alone ${n}\n`);
  }
}

/** Three messages in two queues; every third transaction rolls back, every third has a savepoint that does. */
async function publishInTransactions(): Promise<void> {
  for (;;) {
    const n = next++;
    const key = String(n);
    const kind = n % 3;
    // Noted beforehand: it must not be there, whenever the process dies.
    if (kind === 0) writeSync(file, `never ${n}\n`);
    const done = await mq
      .transaction(async () => {
        await mq.queue("together").publish({ n, key });
        await mq.queue("together-too").publish.many([
          { n, key: `${key}-2` },
          { n, key: `${key}-3` },
        ]);
        if (kind === 1) await failingSavepoint(n);
        if (kind === 0) throw new Error("rolled back on purpose");
        return true;
      })
      .catch(() => false);
    if (done) writeSync(file, `together ${n}\n`);
  }
}

async function failingSavepoint(n: number): Promise<void> {
  const failing = mq.transaction(async () => {
    await mq.queue("together").publish({ n, key: "savepoint" });
    throw new Error("rolled back on purpose");
  });
  await failing.catch(() => undefined);
}

await mq.queue("alone").publish({ n: next++ });
report("publishing");
await Promise.all([...Array.from({ length: 8 }, publishAlone), ...Array.from({ length: 8 }, publishInTransactions)]);
