/** A backlog emptied by one process whose handler does nothing. */
import { queueNames } from "../contest.js";
import { draining } from "../drain.js";
import type { Scenario } from "../scenario.js";
import { plainHundreds, plainRows, postrider } from "../systems/catalogue.js";

export const scenario: Scenario = {
  name: "drain",
  description:
    "100,000 orders wait, stored in bulk; one process handles them all, with a handler that does nothing. Who is not done in five seconds is judged by what it has done until then.",
  prepare: async (bench) => {
    const waiting = bench.size === "tiny" ? 400 : 100_000;
    const options = { queues: queueNames("drain", 1), wake: false, waiting, limitMs: 5_000 };
    const peers = bench.peers.map(({ title }) => title);
    const contender = postrider.title;
    return [
      {
        title: `${waiting.toLocaleString("en-US")} waiting messages, one process`,
        unit: "messages/s",
        better: "more",
        contenders: [plainHundreds, plainRows, postrider, ...bench.peers].map((entry) =>
          draining(bench, entry, options),
        ),
        pledges: [
          { promise: "drain-plain", contender, against: [plainHundreds.title], bound: 0.6 },
          { promise: "drain-peers", contender, against: peers, bound: 12 },
          ...(bench.roundTrips() === undefined
            ? []
            : [{ contender, of: "round trips a handler call", bound: 1, better: "less" as const }]),
        ],
      },
    ];
  },
};
