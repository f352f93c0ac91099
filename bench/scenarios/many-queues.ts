/** One process that consumes from more and more queues. */
import { queueNames } from "../contest.js";
import { draining } from "../drain.js";
import type { Comparison, Scenario } from "../scenario.js";
import { plainRows, postrider } from "../systems/catalogue.js";

export const scenario: Scenario = {
  name: "many-queues",
  description:
    "20,000 orders wait in 1, 5, 10 or 20 queues, evenly; one process consumes from all of them, with a handler that does nothing.",
  prepare: async (bench) =>
    (bench.size === "tiny" ? [1, 5] : [1, 5, 10, 20]).map((count): Comparison => {
      const waiting = bench.size === "tiny" ? 100 : 20_000;
      const options = { queues: queueNames(`many-${count}`, count), wake: false, waiting, limitMs: 5_000 };
      return {
        title: `${count} queue${count === 1 ? "" : "s"}`,
        unit: "messages/s",
        better: "more",
        contenders: [plainRows, postrider, ...bench.peers].map((entry) => draining(bench, entry, options)),
      };
    }),
};
