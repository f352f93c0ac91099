/** Both ends at once: sixty-four callers publish, one process consumes. */
import { collect } from "../collect.js";
import { fresh, queueNames } from "../contest.js";
import { percentile } from "../percentile.js";
import type { Scenario } from "../scenario.js";
import { plainRows, postrider } from "../systems/catalogue.js";

export const scenario: Scenario = {
  name: "publish-while-consuming",
  description:
    "Sixty-four callers of one process publish, each awaiting its own; meanwhile another process handles what comes, with a handler that does nothing. How much is published, and how long an order takes from the call of publish to the handler.",
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
          { contender, against: [plainRows.title], bound: 5 },
          { contender, against: ["pg-boss", "graphile-worker"], bound: 60 },
          { contender, of: "p99 to the handler, ms", bound: 1_000, better: "less" },
        ],
      },
    ];
  },
};
