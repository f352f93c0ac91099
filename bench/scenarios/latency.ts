/** From publish to handler across processes: two idle consumers, one publisher, at a steady rate and all at once. */
import { collect } from "../collect.js";
import { fresh, queueNames } from "../contest.js";
import { percentile } from "../percentile.js";
import type { Bench, Comparison, Contender, Pledge, Scenario } from "../scenario.js";
import { plainRows, postrider, type SystemEntry } from "../systems/catalogue.js";
import type { SystemProcess } from "../systems/system-process.js";

const limits = [
  { rate: 10, p50: 4 },
  { rate: 100, p50: 2.5 },
  { rate: 1_000, p50: 2.5 },
];

export const scenario: Scenario = {
  name: "latency",
  description:
    "How long an order takes from the call of publish to the handler in another process, which was asleep or busy with the one before. One process publishes to ten queues in turn, whatever the answers do; two processes consume them all.",
  prepare: async (bench) => [
    ...limits.map(({ rate, p50 }) =>
      waiting(bench, `${rate} messages a second, p50`, pledgesOf(rate, p50), (publisher) =>
        publisher.steady({ rate, ms: Math.max(bench.measureMs, bench.size === "tiny" ? 0 : 20_000 / rate) }),
      ),
    ),
    waiting(bench, "2,000 messages at once, p50", [], (publisher) =>
      publisher.burst(bench.size === "tiny" ? 50 : 2_000),
    ),
  ],
};

function pledgesOf(rate: number, p50: number): readonly Pledge[] {
  const contender = postrider.title;
  return [
    { promise: "latency-p50", contender, bound: p50 },
    { promise: "latency-p99", contender, of: "p99, ms", bound: 15 },
    { promise: "latency-plain", contender, against: [plainRows.title], bound: 1.5 },
    ...(rate === 1_000
      ? [
          {
            promise: "latency-peers" as const,
            contender,
            against: ["pg-boss", "graphile-worker", "BullMQ on Postgres"],
            bound: 1,
          },
        ]
      : []),
  ];
}

function waiting(
  bench: Bench,
  title: string,
  pledges: readonly Pledge[],
  send: (publisher: SystemProcess) => Promise<number>,
): Comparison {
  const queues = queueNames("latency", 10);
  const contender = (entry: SystemEntry): Contender =>
    // Consumers of their own for every measurement: idle ones of another contender would still cost the server something.
    fresh(bench, entry, { queues, wake: true }, async (start) => {
      const [publisher, ...consumers] = [await start(), await start(), await start()];
      await publisher.open();
      for (const consumer of consumers) await consumer.consume();
      // The first message of a connection pays for what the later ones have: plans, types, compiled code.
      await collect(consumers, { count: await publisher.burst(20) });
      const sent = await send(publisher);
      const { latencies } = await collect(consumers, { count: sent });
      return {
        value: percentile(latencies, 0.5),
        also: { "p99, ms": percentile(latencies, 0.99), "slowest, ms": Math.max(...latencies) },
      };
    });
  return {
    title,
    unit: "ms",
    better: "less",
    pledges,
    contenders: [plainRows, postrider, ...bench.peers].map(contender),
  };
}
