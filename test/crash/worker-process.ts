/** A worker as a process of its own. Settings come as JSON; it reports what it does, and ends by itself when it is stopped. */
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime } from "../../src/create-runtime.js";
import { keptLog } from "../support/client.js";
import type { TestMessage } from "../support/queue-definition.js";
import { testQueue } from "../support/queue-definition.js";
import { report } from "../support/report.js";

/** What a worker process is given as its first argument. */
export interface WorkerSettings {
  readonly connectionString: string;
  readonly queue: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly pollMs?: number;
  readonly heartbeatMs?: number;
  /** How long a handler takes; it ends early only when told to `end`, never by its signal. */
  readonly handlerMs?: number;
  readonly stopWithinMs?: number;
  /** Messages come one by one, and the handler of this one never ends. */
  readonly eachButEndless?: number;
  /** Every handler throws. */
  readonly fails?: boolean;
}

const settings = JSON.parse(process.argv[2] ?? "{}") as WorkerSettings;
const { connectionString, queue, pollMs = 60_000, heartbeatMs = 1_000, handlerMs = 0 } = settings;
const logger = keptLog();
const queues = [testQueue(queue, settings.options)];
const mq = createRuntime({ queues, connectionString, pollMs, heartbeatMs, logger });

const end = new Promise<void>((resolve) => {
  process.on("message", ({ name }: { name: string }) => {
    if (name === "end") resolve();
    if (name === "log") report("log", { lines: logger.lines.map(({ message }) => message) });
  });
});
// What is tested is that nothing of the client's keeps the process; nor may the test's own channel.
process.channel?.unref();
process.on("warning", ({ message }) => report("warning", { message }));
mq.on("polled", ({ result }) => report("looked", { result }));
mq.on("woken", ({ source, batches }) => report("woken", { source, batches }));
mq.on("listenerUp", () => report("listenerUp"));
mq.on("retried", () => report("retried"));
mq.on("leaseLost", ({ batchId }) => report("leaseLost", { batchId }));
mq.on("recovered", (recovery) => report("recovered", { ...recovery }));
const handleOne = async (message: unknown) => {
  const { n } = message as TestMessage;
  report("handling", { numbers: [n] });
  if (n === settings.eachButEndless) await end;
};
const handle = async (messages: readonly unknown[], { ids, attempt }: { ids: readonly string[]; attempt: number }) => {
  const at = performance.timeOrigin + performance.now();
  report("handling", { at, numbers: (messages as TestMessage[]).map(({ n }) => n), ids, attempt });
  if (handlerMs > 0) await Promise.race([sleep(handlerMs, undefined, { ref: false }), end]);
  report("handled", { ids });
  if (settings.fails === true) throw new Error("as the test asked");
};
if (settings.eachButEndless === undefined) mq.queue(queue).listen(handle);
else mq.queue(queue).listen.each(handleOne);
mq.stopOnSignals(settings.stopWithinMs === undefined ? {} : { timeoutMs: settings.stopWithinMs });
await mq.start();
report("started", { pid: process.pid });
