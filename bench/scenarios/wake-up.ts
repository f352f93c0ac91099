/** A node is woken, or it looks by itself. */
import { collect } from "../collect.js";
import { type ContestOptions, fresh, queueNames } from "../contest.js";
import { percentile } from "../percentile.js";
import type { Bench, Comparison, Contender, Scenario } from "../scenario.js";
import { prepareSilentSchema } from "../silent-schema.js";
import { postrider } from "../systems/catalogue.js";

const ways: readonly { readonly title: string; readonly tuning: ContestOptions["tuning"] }[] = [
  { title: "postrider, notified (looks once a minute)", tuning: { pollMs: 60_000 } },
  { title: "postrider, not notified, looks every 500 ms", tuning: { pollMs: 500, silent: true } },
  { title: "postrider, not notified, looks every 50 ms", tuning: { pollMs: 50, silent: true } },
];

export const scenario: Scenario = {
  name: "wake-up",
  description:
    "One process publishes, another handles. At 20 messages a second the handling one sleeps between two messages; at 500 with a handler of 2 ms it hardly ever sleeps. Woken by a notification, or, where notifications are switched off, by looking by itself.",
  prepare: async (bench) => {
    await prepareSilentSchema(bench.directConnectionString);
    return [
      waking(bench, { title: "sleeping: 20 messages a second", rate: 20, handleMs: 0 }),
      waking(bench, { title: "busy: 500 messages a second, a handler of 2 ms", rate: 500, handleMs: 2 }),
    ];
  },
};

interface Load {
  readonly title: string;
  readonly rate: number;
  readonly handleMs: number;
}

function waking(bench: Bench, { title, rate, handleMs }: Load): Comparison {
  const contender = (way: (typeof ways)[number]): Contender => {
    const options = { queues: queueNames("wake", 1), wake: true, ...(way.tuning && { tuning: way.tuning }) };
    return fresh(bench, { ...postrider, title: way.title }, options, async (start) => {
      const [publisher, consumer] = [await start(), await start()];
      await publisher.open();
      await consumer.consume(handleMs);
      await collect([consumer], { count: await publisher.burst(5) });
      const { latencies } = await collect([consumer], {
        count: await publisher.steady({ rate, ms: Math.max(bench.measureMs, 200) }),
      });
      return { value: percentile(latencies, 0.5), also: { "p99, ms": percentile(latencies, 0.99) } };
    });
  };
  return { title, unit: "ms from publish to handler, p50", better: "less", contenders: ways.map(contender) };
}
