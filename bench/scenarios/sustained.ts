/** Publishing and consuming for a while: what both ends keep up with, once whatever was empty at the start has filled. */
import { setTimeout as sleep } from "node:timers/promises";
import { fresh, queueNames } from "../contest.js";
import { percentile } from "../percentile.js";
import type { Bench, Contender, Scenario } from "../scenario.js";
import { plainRows, postrider, type SystemEntry } from "../systems/catalogue.js";

const callers = 16;

export const scenario: Scenario = {
  name: "sustained",
  description:
    "Sixteen callers of one process publish, each awaiting its own, for five times as long as a measurement of other scenarios; another process handles what comes, with a handler that does nothing. What reached a handler a second, in the last four fifths of that time; how much more was published than handled in them, which is what a longer run would drown in; and how long a message took.",
  prepare: async (bench) => [
    {
      title: `${callers} callers publish and one process consumes, for ${(5 * bench.measureMs) / 1_000} s`,
      unit: "messages handled/s",
      better: "more",
      warmUp: false,
      contenders: [plainRows, postrider, ...bench.peers].map((entry) => sustaining(bench, entry)),
    },
  ],
};

function sustaining(bench: Bench, entry: SystemEntry): Contender {
  return fresh(bench, entry, { queues: queueNames("sustained", 1), wake: true }, async (start) => {
    const [publisher, consumer] = [await start(), await start()];
    await publisher.open();
    await consumer.consume();
    const publishing = publisher.publish({ callers, ms: 5 * bench.measureMs, size: 1 });
    await sleep(bench.measureMs);
    await consumer.report();
    const beganAt = performance.now();
    await sleep(4 * bench.measureMs);
    const { messages, latencies } = await consumer.report();
    const seconds = (performance.now() - beganAt) / 1_000;
    const published = await publishing;
    const publishedPerSecond = (published.messages * 1_000) / published.ms;
    return {
      value: messages / seconds,
      also: {
        "published/s": publishedPerSecond,
        "left behind, % of what was published": Math.max(0, 100 * (1 - messages / seconds / publishedPerSecond)),
        "p50 to the handler, ms": percentile(latencies, 0.5),
        "p99 to the handler, ms": percentile(latencies, 0.99),
      },
    };
  });
}
