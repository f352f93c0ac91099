/** Both ends at once: sixty-four callers publish, one process consumes. */
import { collect } from "../collect.js";
import { fresh, queueNames } from "../contest.js";
import { percentile } from "../percentile.js";
import type { Bench, Comparison, Scenario } from "../scenario.js";
import { plainRows, postrider } from "../systems/catalogue.js";

export const scenario: Scenario = {
  name: "publish-while-consuming",
  description:
    "Sixty-four callers of one process publish, each awaiting its own; meanwhile another process handles what comes, with a handler that does nothing. How much is published, and how long an order takes from the call of publish to the handler. And the same at a steady rate, whatever the answers do.",
  prepare: async (bench) => {
    const queues = queueNames("both", 1);
    const contender = postrider.title;
    return [
      {
        title: "64 callers publish, one process consumes",
        unit: "messages published/s",
        better: "more",
        contenders: [plainRows, postrider, ...bench.peers].map((entry) =>
          fresh(bench, entry, { queues, wake: true }, async (start) => {
            const [publisher, consumer] = [await start(), await start()];
            await consumer.consume();
            const { messages, ms } = await publisher.publish({ callers: 64, ms: bench.measureMs, size: 1 });
            const { latencies, spanMs } = await collect([consumer], { count: messages });
            return {
              value: (messages * 1_000) / ms,
              also: {
                "handled/s": (latencies.length * 1_000) / spanMs,
                "p50 to the handler, ms": percentile(latencies, 0.5),
                "p99 to the handler, ms": percentile(latencies, 0.99),
              },
            };
          }),
        ),
        pledges: [
          { promise: "both-plain", contender, against: [plainRows.title], bound: 5 },
          { promise: "both-peers", contender, against: ["pg-boss", "graphile-worker"], bound: 60 },
          { promise: "both-p99", contender, of: "p99 to the handler, ms", bound: 1_000, better: "less" },
        ],
      },
      ...(bench.size === "tiny" ? [200] : [500, 2_000]).map((rate) => atRate(bench, rate)),
    ];
  },
};

function atRate(bench: Bench, rate: number): Comparison {
  return {
    title: `${rate.toLocaleString("en-US")} messages a second, one process consumes`,
    unit: "ms from publish to handler, p99",
    better: "less",
    contenders: [plainRows, postrider, ...bench.peers].map((entry) =>
      fresh(bench, entry, { queues: queueNames("rate", 1), wake: true }, async (start) => {
        const [publisher, consumer] = [await start(), await start()];
        await publisher.open();
        await consumer.consume();
        await collect([consumer], { count: await publisher.burst(20) });
        const sent = await publisher.steady({ rate, ms: bench.measureMs });
        const { latencies, spanMs } = await collect([consumer], { count: sent });
        return {
          value: percentile(latencies, 0.99),
          also: {
            "p50, ms": percentile(latencies, 0.5),
            "handled/s": (latencies.length * 1_000) / Math.max(spanMs, 1),
          },
        };
      }),
    ),
  };
}
