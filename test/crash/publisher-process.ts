/** A publisher as a process of its own: no start(), no stop(), and it must end by itself. */
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime } from "../../src/create-runtime.js";
import { testQueue } from "../support/queue-definition.js";
import { report } from "../support/report.js";

const [connectionString = "", queue = "", count = "1", everyMs = "0"] = process.argv.slice(2);
const mq = createRuntime({ queues: [testQueue(queue)], connectionString });
for (let n = 0; n < Number(count); n += 1) {
  const at = performance.timeOrigin + performance.now();
  await mq.queue(queue).publish({ n });
  report("published", { n, at });
  await sleep(Number(everyMs));
}
report("done");
