/** What it brings to take many messages in one call of the handler. */
import { queueNames } from "../contest.js";
import { draining } from "../drain.js";
import type { Comparison, Scenario } from "../scenario.js";
import { postrider } from "../systems/catalogue.js";

export const scenario: Scenario = {
  name: "batch-handler",
  description:
    "A backlog emptied by one process whose handler takes up to 1, 10 or 50 messages a call (maxBatchMessages); once with a handler that does nothing, once with one that takes 2 ms whatever it is given, as a statement of its own would.",
  prepare: async (bench) =>
    [0, 2].map((handleMs): Comparison => {
      const waiting = bench.size === "tiny" ? 100 : 20_000;
      return {
        title: handleMs === 0 ? "a handler that does nothing" : `a handler that takes ${handleMs} ms a call`,
        unit: "messages/s",
        better: "more",
        contenders: [1, 10, 50].map((maxBatchMessages) =>
          draining(
            bench,
            { ...postrider, title: `postrider, maxBatchMessages ${maxBatchMessages}` },
            {
              // A queue of its own each: a setting belongs to its queue.
              queues: queueNames(`batch-${handleMs}-${maxBatchMessages}`, 1),
              wake: true,
              tuning: { maxBatchMessages },
              waiting,
              limitMs: 5_000,
              handleMs,
            },
          ),
        ),
      };
    }),
};
