/** A worker that fails its first delivery of a message with `text: "fail"`. Looks by itself once a minute. */
import { createRuntime } from "../../src/create-runtime.js";
import { keptLog } from "../support/client.js";
import { monotonicMs } from "../support/monotonic.js";
import { type TestMessage, testQueue } from "../support/queue-definition.js";
import { report } from "../support/report.js";

const [connectionString = "", queue = "", backoffMs = "400"] = process.argv.slice(2);
const wait = { initialMs: Number(backoffMs), factor: 1, maxMs: Number(backoffMs), jitter: 0 };
const mq = createRuntime({
  queues: [testQueue(queue, { backoff: wait })],
  connectionString,
  pollMs: 60_000,
  logger: keptLog(),
});
mq.queue(queue).listen.each((message, { attempt }) => {
  const { n, text } = message as TestMessage;
  report("handling", { n, attempt, atMs: monotonicMs() });
  if (text === "fail" && attempt === 1) throw new Error("once");
});
mq.on("polled", () => report("looked"));
mq.on("woken", ({ source }) => report("woken", { source }));
mq.stopOnSignals();
await mq.start();
report("started", { clock: Date.now() });
