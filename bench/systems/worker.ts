/** A process that runs one system: `worker.ts <adapter file> <options as JSON>`. Does as `command.ts` says. */
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { OrderPlaced } from "../../generated/index.js";
import { order, sentAtOf } from "../order.js";
import { percentile } from "../percentile.js";
import type { Command, Handled, Published, Span } from "./command.js";
import type { Adapter, System, SystemOptions } from "./system.js";

const [file, json] = process.argv.slice(2) as [string, string];
const options = JSON.parse(json) as SystemOptions & { readonly tag: string };
const { adapter } = (await import(pathToFileURL(file).href)) as { adapter: Adapter };
const { queues, tag } = options;
let system: System | undefined;
let published = 0;

const opened = async (): Promise<System> => (system ??= await adapter.open(options));
const clockMs = () => Number(process.hrtime.bigint()) / 1e6;
const nextQueue = () => queues[published % queues.length] as string;
const nextOrder = () => order(`${tag}-${++published}`, process.hrtime.bigint());

async function publish({ callers, ms, size }: Command & { do: "publish" }): Promise<Published> {
  const { publish: one, publishMany: many } = await opened();
  const startedAt = performance.now();
  const times: number[] = [];
  let messages = 0;
  const caller = async () => {
    for (let now = performance.now(); now - startedAt < ms; ) {
      const queue = nextQueue();
      await (size === 1 ? one(queue, nextOrder()) : many(queue, Array.from({ length: size }, nextOrder)));
      const then = now;
      now = performance.now();
      times.push(now - then);
      messages += size;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { messages, ms: performance.now() - startedAt, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

async function steady({ rate, ms }: Command & { do: "steady" }): Promise<number> {
  const target = await opened();
  const startedAt = performance.now();
  const sending: Promise<unknown>[] = [];
  const wanted = Math.max(1, Math.round((rate * ms) / 1_000));
  while (sending.length < wanted) {
    const due = Math.min(wanted, 1 + Math.floor(((performance.now() - startedAt) * rate) / 1_000));
    while (sending.length < due) {
      const publishing = target.publish(nextQueue(), nextOrder());
      // A failure is told at the end, by all of them together, and not as unhandled before.
      publishing.catch(() => undefined);
      sending.push(publishing);
    }
    await sleep(1);
  }
  await Promise.all(sending);
  return sending.length;
}

async function burst({ count }: Command & { do: "burst" }): Promise<number> {
  const target = await opened();
  await Promise.all(Array.from({ length: count }, () => target.publish(nextQueue(), nextOrder())));
  return count;
}

async function fill({ count }: Command & { do: "fill" }): Promise<number> {
  const target = await opened();
  const share = Math.ceil(count / queues.length);
  for (const queue of queues) {
    for (let left = share; left > 0; left -= 1_000) {
      await target.publishMany(queue, Array.from({ length: Math.min(1_000, left) }, nextOrder));
    }
  }
  return share * queues.length;
}

let handled = 0;
let calls = 0;
let firstAt = 0;
let lastAt = 0;
let latencies: number[] = [];
let orderIds: string[] = [];
let spans: Span[] = [];
let cpu = process.cpuUsage();
let waiting: { readonly count: number; readonly reached: () => void } | undefined;

function record(messages: readonly OrderPlaced[]): void {
  const now = process.hrtime.bigint();
  lastAt = Number(now) / 1e6;
  if (calls === 0) firstAt = lastAt;
  calls += 1;
  handled += messages.length;
  for (const message of messages) {
    latencies.push(Number(now - sentAtOf(message)) / 1e6);
    orderIds.push(message.orderId);
  }
  if (waiting !== undefined && handled >= waiting.count) waiting.reached();
}

async function consume({ handleMs, spans: wantsSpans }: Command & { do: "consume" }): Promise<void> {
  const target = await opened();
  const handle = (messages: readonly OrderPlaced[]) => {
    record(messages);
    return handleMs > 0 ? sleep(handleMs) : undefined;
  };
  const timed = async (messages: readonly OrderPlaced[]) => {
    const beganAt = clockMs();
    await handle(messages);
    spans.push([beganAt, clockMs()]);
  };
  await target.consume(queues, wantsSpans === true ? timed : handle);
}

async function until({ count, limitMs }: Command & { do: "until" }): Promise<void> {
  await new Promise<void>((reached) => {
    waiting = { count, reached };
    setTimeout(reached, limitMs).unref();
    if (handled >= count) reached();
  });
  waiting = undefined;
}

function report(): Handled {
  const { user, system: kernel } = process.cpuUsage(cpu);
  const answer = {
    messages: orderIds.length,
    calls,
    firstAt,
    lastAt,
    latencies,
    orderIds,
    spans,
    cpuMs: (user + kernel) / 1e3,
  };
  [calls, latencies, orderIds, spans, cpu] = [0, [], [], [], process.cpuUsage()];
  return answer;
}

async function obey(command: Command): Promise<unknown> {
  switch (command.do) {
    case "prepare":
      return await adapter.prepare(options);
    case "open":
      return void (await opened());
    case "close":
      await system?.stop();
      system = undefined;
      return undefined;
    case "publish":
      return await publish(command);
    case "steady":
      return await steady(command);
    case "burst":
      return await burst(command);
    case "fill":
      return await fill(command);
    case "consume":
      return await consume(command);
    case "until":
      return await until(command);
    case "report":
      return report();
    case "stop":
      await system?.stop();
      return report();
  }
}

process.on("message", ({ id, command }: { id: number; command: Command }) => {
  obey(command).then(
    (answer) => process.send?.({ id, answer }, () => command.do === "stop" && process.exit(0)),
    (error: Error) => process.send?.({ id, error: error.stack ?? String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.({ id: 0 });
