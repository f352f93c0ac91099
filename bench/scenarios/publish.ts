/** Publishing: one awaiting caller, sixty-four, and in bulk. Every message is validated by the product, by nobody else. */
import { type ContestOptions, lasting, queueNames } from "../contest.js";
import type { Bench, Comparison, Pledge, Scenario } from "../scenario.js";
import { plainBare, plainHundreds, plainRows, postrider, type SystemEntry } from "../systems/catalogue.js";

const postriderUnbuffered: SystemEntry = { ...postrider, title: "postrider, buffer: false" };

const rows = [plainBare, plainRows];

export const scenario: Scenario = {
  name: "publish",
  description:
    "One process stores orders of about 600 bytes; nobody consumes. Each caller awaits its publish, which resolves when the order is committed, before it makes the next.",
  prepare: async (bench) => [
    publishing(bench, "1 awaiting caller", 1, 1, rows, [
      { promise: "publish-one", contender: postrider.title, against: [plainBare.title], bound: 0.7 },
    ]),
    publishing(bench, "16 awaiting callers", 16, 1, rows, []),
    publishing(bench, "64 awaiting callers", 64, 1, rows, [
      { promise: "publish-64-plain", contender: postrider.title, against: rows.map(({ title }) => title), bound: 8 },
      { promise: "publish-64-peers", contender: postrider.title, against: ["pg-boss", "graphile-worker"], bound: 80 },
    ]),
    publishing(
      bench,
      "bulk, 4 callers, 100 messages a call",
      4,
      100,
      [plainHundreds],
      [{ promise: "publish-bulk", contender: postrider.title, against: [plainHundreds.title], bound: 0.75 }],
    ),
    publishing(bench, "bulk, 4 callers, 10 messages a call", 4, 10, rows, []),
  ],
};

function publishing(
  bench: Bench,
  title: string,
  callers: number,
  size: number,
  plain: readonly SystemEntry[],
  pledges: readonly Pledge[],
): Comparison {
  const contender = (entry: SystemEntry, tuning: ContestOptions["tuning"] = {}) =>
    lasting(bench, entry, { queues: queueNames("publish", 1), wake: false, tuning }, async (system) => {
      const tripsBefore = bench.roundTrips();
      const { messages, ms, p50, p99 } = await system.publish({ callers, ms: bench.measureMs, size });
      const trips = bench.roundTrips();
      return {
        value: (messages * 1_000) / ms,
        also: {
          "p50 of a call, ms": p50,
          "p99 of a call, ms": p99,
          ...(trips === undefined || tripsBefore === undefined
            ? {}
            : { "round trips a publish": ((trips - tripsBefore) * size) / messages }),
        },
      };
    });
  return {
    title,
    unit: "messages/s",
    better: "more",
    pledges: [
      ...pledges,
      ...(bench.roundTrips() === undefined
        ? []
        : [{ contender: postrider.title, of: "round trips a publish", bound: 1, better: "less" as const }]),
    ],
    contenders: [
      ...plain.map((entry) => contender(entry)),
      contender(postrider),
      ...(bench.size === "tiny" ? [] : [contender(postriderUnbuffered, { unbuffered: true })]),
      ...bench.peers.map((peer) => contender(peer)),
    ],
  };
}
