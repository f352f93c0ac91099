/** One queue, several processes: how well they share, and whether a message comes twice. */
import { collect } from "../collect.js";
import { fresh, queueNames } from "../contest.js";
import type { Bench, Comparison, Contender, Scenario } from "../scenario.js";
import { plainRows, postrider, type SystemEntry } from "../systems/catalogue.js";

const working = { handleMs: 2, maxBatchMessages: 10 };

export const scenario: Scenario = {
  name: "concurrent-consumers",
  description:
    "A backlog of one queue emptied by 1, 2, 4 and 8 processes at once, with a handler that takes 2 ms a call and up to 10 messages; and by four processes of each system, as it is tuned, with a handler that does nothing. Beside the rate: what the busiest process handled, as a multiple of an even share, and how many messages were handled more than once.",
  prepare: async (bench) => {
    const tiny = bench.size === "tiny";
    const scaling: Comparison = {
      title: "postrider by 1, 2, 4 and 8 processes",
      unit: "messages/s",
      better: "more",
      contenders: (tiny ? [1, 2] : [1, 2, 4, 8]).map((processes) =>
        sharing(
          bench,
          { ...postrider, title: `postrider, ${processes} process${processes === 1 ? "" : "es"}` },
          { ...working, processes },
        ),
      ),
    };
    const others: Comparison = {
      title: "four processes",
      unit: "messages/s",
      better: "more",
      contenders: [plainRows, postrider, ...bench.peers].map((entry) =>
        sharing(bench, entry, { processes: tiny ? 2 : 4 }),
      ),
      pledges: [
        {
          promise: "consumers-once",
          contender: postrider.title,
          of: "handled more than once",
          bound: 0,
          better: "less",
        },
      ],
    };
    return [scaling, others];
  },
};

interface Sharing {
  readonly processes: number;
  readonly handleMs?: number;
  readonly maxBatchMessages?: number;
}

function sharing(bench: Bench, entry: SystemEntry, { processes, handleMs = 0, maxBatchMessages }: Sharing): Contender {
  const waiting = bench.size === "tiny" ? 200 : 10_000;
  const queues = queueNames(`shared-${handleMs}-${processes}`, 1);
  const tuning = maxBatchMessages === undefined ? {} : { maxBatchMessages };
  return fresh(bench, entry, { queues, wake: true, tuning }, async (start) => {
    const filler = await start();
    const count = await filler.fill(waiting);
    await filler.stop();
    const consumers = await Promise.all(Array.from({ length: processes }, () => start()));
    await Promise.all(consumers.map((consumer) => consumer.open()));
    await Promise.all(consumers.map((consumer) => consumer.consume(handleMs)));
    const { messages, spanMs, imbalance, duplicates } = await collect(consumers, { count });
    return {
      value: (messages * 1_000) / Math.max(spanMs, 1),
      also: { "busiest, of an even share": imbalance, "handled more than once": duplicates },
    };
  });
}
