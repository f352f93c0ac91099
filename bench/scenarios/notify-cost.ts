/** What it costs publishers that somebody sleeps and wants to be woken. */
import pg from "pg";
import { type ContestOptions, queueNames, recurring } from "../contest.js";
import type { Bench, Comparison, Contender, Scenario } from "../scenario.js";
import { prepareSilentSchema } from "../silent-schema.js";
import { plainRows, postrider, type SystemEntry } from "../systems/catalogue.js";

const off = "postrider, notifications off";
const asleep = "postrider, a listener sleeps";

interface Load {
  readonly title: string;
  readonly processes: number;
  readonly callers: number;
}

const loads: readonly Load[] = [
  { title: "1 caller", processes: 1, callers: 1 },
  { title: "16 callers", processes: 1, callers: 16 },
  { title: "64 callers", processes: 1, callers: 64 },
  { title: "8 processes of 8 callers", processes: 8, callers: 8 },
];

export const scenario: Scenario = {
  name: "notify-cost",
  description:
    "Publishing with one message a row and no buffer, so that every message is a commit of its own: with notifications switched off, with nobody asleep, and with a listener that sleeps all the time and has to be woken by every one. On the disk as it is, and with 1 ms more for every flush of the write-ahead log (commit_delay 1000 with commit_siblings 0: the server itself then waits before it flushes, while commits that arrive meanwhile join it; no special disk, module or compiler is needed, and it can be set for the benchmark's own connections only).",
  prepare: async (bench) => {
    await prepareSilentSchema(bench.directConnectionString);
    const tiny = bench.size === "tiny";
    return (tiny ? loads.slice(0, 1) : loads).flatMap((load) =>
      [false, true].map((isSlow) => costing(bench, load, isSlow)),
    );
  },
};

function costing(bench: Bench, load: Load, isSlow: boolean): Comparison {
  const common: ContestOptions = {
    queues: queueNames("notify", 1),
    wake: false,
    connectionString: isSlow ? withSlowFlush(bench.connectionString) : bench.connectionString,
    tuning: { unbuffered: true, maxBatchMessages: 1, poolSize: load.callers },
  };
  const silent = { ...common, tuning: { ...common.tuning, silent: true } };
  const ours = (title: string, options: ContestOptions, sleeper?: string) =>
    publishing(bench, { ...postrider, title }, load, options, sleeper);
  return {
    title: `${load.title}${isSlow ? ", a flush takes 1 ms more" : ""}`,
    unit: "messages/s",
    better: "more",
    contenders: [
      ours(off, silent),
      ours("postrider, nobody sleeps", common),
      ours(asleep, common, bench.directConnectionString),
      publishing(bench, { ...plainRows, title: "plain SQL, no NOTIFY" }, load, common),
      publishing(bench, { ...plainRows, title: "plain SQL, NOTIFY in the INSERT" }, load, { ...common, wake: true }),
    ],
    pledges:
      load.callers * load.processes === 64
        ? [{ promise: "notify-cost", contender: asleep, against: [off], bound: 0.9 }]
        : [],
  };
}

function publishing(
  bench: Bench,
  entry: SystemEntry,
  { processes, callers }: Load,
  options: ContestOptions,
  sleepsAt?: string,
): Contender {
  return recurring(bench, entry, { ...options, count: processes }, async (publishers) => {
    const sleeper = sleepsAt === undefined ? undefined : await sleepOn(sleepsAt, options.queues);
    // Opens every connection.
    await Promise.all(publishers.map((publisher) => publisher.publish({ callers, ms: 100, size: 1 })));
    const heardBefore = sleeper?.heard() ?? 0;
    const load = { callers, ms: bench.measureMs, size: 1 };
    const all = await Promise.all(publishers.map((publisher) => publisher.publish(load)));
    const messages = all.reduce((sum, { messages }) => sum + messages, 0);
    const heard = (sleeper?.heard() ?? 0) - heardBefore;
    await sleeper?.stop();
    return {
      value: all.reduce((sum, { messages, ms }) => sum + (messages * 1_000) / ms, 0),
      also: {
        "p99 of a call, ms": Math.max(...all.map(({ p99 }) => p99)),
        "notifications a message": heard / messages,
      },
    };
  });
}

/** A session that looks to publishers like a node that has fallen asleep, and never wakes. */
async function sleepOn(connectionString: string, queues: readonly string[]) {
  const client = new pg.Client(connectionString);
  let heard = 0;
  client.on("notification", () => {
    heard += 1;
  });
  await client.connect();
  await client.query("listen postrider");
  await client.query("select postrider.fall_asleep($1)", [queues]);
  return { heard: () => heard, stop: () => client.end() };
}

function withSlowFlush(connectionString: string): string {
  const url = new URL(connectionString);
  url.searchParams.set("options", "-c commit_delay=1000 -c commit_siblings=0");
  return url.href;
}
