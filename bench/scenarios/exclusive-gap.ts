/** A queue whose batches run one at a time in the whole cluster: how long it stands still between two of them. */
import { collect } from "../collect.js";
import { queueNames, recurring } from "../contest.js";
import { percentile } from "../percentile.js";
import type { Bench, Contender, Scenario } from "../scenario.js";
import { plainRows, postrider, type SystemEntry } from "../systems/catalogue.js";
import type { Span } from "../systems/command.js";

const handleMs = 2;

export const scenario: Scenario = {
  name: "exclusive-gap",
  description:
    "2,000 messages wait, each a batch of its own, in a queue that allows one handler call at a time over all processes (exclusive); eight processes consume, with a handler that takes 2 ms. Time from the end of a handler call to the beginning of the next, wherever that is; and how often two ran at once. Plain SQL takes a lock for each message; pg-boss has the policy singleton, graphile-worker a named queue, BullMQ a global concurrency of 1. First all 2,000; then, of every system, what it does in the time of a measurement.",
  prepare: async (bench) => {
    const unit = "ms from end to next begin, p95";
    const [processes, all] = bench.size === "tiny" ? [2, 40] : [8, 2_000];
    const every: Taking = { processes, wanted: all, limitMs: 30_000 };
    return [
      {
        title: `${processes} processes, ${all.toLocaleString("en-US")} messages one at a time`,
        unit,
        better: "less",
        contenders: [plainRows, postrider].map((entry) => taking(bench, entry, every)),
        pledges: [
          { promise: "exclusive-gap", contender: postrider.title, bound: 50 },
          { promise: "exclusive-one", contender: postrider.title, of: "two at once", bound: 0 },
        ],
      },
      {
        title: `${processes} processes, as many as there is time for`,
        unit,
        better: "less",
        contenders: [plainRows, postrider, ...bench.peers].map((entry) =>
          taking(bench, entry, { ...every, limitMs: Math.max(500, bench.measureMs) }),
        ),
      },
    ];
  },
};

interface Taking {
  readonly processes: number;
  readonly wanted: number;
  readonly limitMs: number;
}

function taking(bench: Bench, entry: SystemEntry, { processes, wanted, limitMs }: Taking): Contender {
  const queues = queueNames(`exclusive-${limitMs}`, 1);
  const options = { queues, wake: true, exclusive: true, tuning: { maxBatchMessages: 1 } };
  let left = 0;
  return recurring(bench, entry, { ...options, count: processes }, async (nodes) => {
    // What was under way when the time of the last measurement was up has ended since.
    for (const node of nodes) left -= (await node.report()).messages;
    const [filler] = nodes;
    if (filler !== undefined && left < wanted) left += await filler.fill(wanted - left);
    await Promise.all(nodes.map((node) => node.consume(handleMs, true)));
    const { spans, messages, imbalance } = await collect(nodes, { count: left, limitMs });
    left -= messages;
    const gaps = gapsOf(spans);
    return {
      value: percentile(gaps, 0.95),
      also: {
        "p50, ms": percentile(gaps, 0.5),
        "longest, ms": Math.max(...gaps),
        "two at once": gaps.filter((gap) => gap < 0).length,
        "handler calls": spans.length,
        "busiest, of an even share": imbalance,
      },
    };
  });
}

/** From the latest end before it to each beginning but the first; below zero where another still ran. */
function gapsOf(spans: readonly Span[]): readonly number[] {
  const gaps: number[] = [];
  let endedAt: number | undefined;
  for (const [began, ended] of [...spans].sort(([a], [b]) => a - b)) {
    if (endedAt !== undefined) gaps.push(began - endedAt);
    endedAt = Math.max(endedAt ?? ended, ended);
  }
  return gaps;
}
