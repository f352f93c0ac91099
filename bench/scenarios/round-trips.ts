/** How often a system goes to the database and back, where that takes 5 ms. */
import { startProxy } from "../../test/support/proxy.js";
import { collect } from "../collect.js";
import { type ContestOptions, fresh, queueNames } from "../contest.js";
import { percentile } from "../percentile.js";
import type { Bench, Comparison, Contender, Sample, Scenario } from "../scenario.js";
import { plainHundreds, plainRows, postrider, type SystemEntry } from "../systems/catalogue.js";
import type { SystemProcess } from "../systems/system-process.js";

const rtt = { minMs: 5, maxMs: 5 };
const single: SystemEntry = { ...postrider, title: "postrider, a message a batch" };

export const scenario: Scenario = {
  name: "round-trips",
  description:
    "A network that makes each round trip to the database 5 ms longer. Answered requests are counted on the wire, over all connections of the process. Publishing by one awaiting caller and by sixty-four. Delivering a backlog, from its first fifth on, with a handler that does nothing; what one handler call gets is a batch. And one message after another, twenty a second, to a process that falls asleep in between, where what falling asleep needs is counted too.",
  prepare: async (bench) => [publishing(bench, 1), publishing(bench, 64), delivering(bench), sleeping(bench)],
};

function publishing(bench: Bench, callers: number): Comparison {
  return {
    title: `publishing, ${callers} awaiting caller${callers === 1 ? "" : "s"}`,
    unit: "round trips a message",
    better: "less",
    contenders: [plainRows, postrider, ...bench.peers].map((entry) =>
      distant(bench, entry, { queues: queueNames("far", 1) }, async ({ far, trips }) => {
        const publisher = await far();
        await publisher.publish({ callers, ms: 200, size: 1 });
        const before = trips();
        const { messages, ms, p50 } = await publisher.publish({ callers, ms: bench.measureMs, size: 1 });
        return {
          value: (trips() - before) / messages,
          also: { "p50 of a call, ms": p50, "messages/s": (messages * 1_000) / ms },
        };
      }),
    ),
    pledges: [{ promise: "rtt-publish", contender: postrider.title, bound: 1 }],
  };
}

function delivering(bench: Bench): Comparison {
  const all = bench.size === "tiny" ? 300 : 20_000;
  const contender = (entry: SystemEntry, waiting = all, options: Partial<ContestOptions> = {}) =>
    distant(bench, entry, { queues: queueNames("far-backlog", 1), ...options }, async ({ near, far, trips }) => {
      // What an earlier measurement has left makes it longer, not different.
      await (await near()).fill(waiting);
      const consumer = await far();
      await consumer.consume();
      await consumer.until(waiting / 5, bench.measureMs);
      await consumer.report();
      const [before, beganAt] = [trips(), performance.now()];
      await consumer.until((waiting * 9) / 10, bench.measureMs);
      const [after, endedAt] = [trips(), performance.now()];
      const { messages, calls } = await consumer.report();
      return {
        value: (after - before) / calls,
        also: {
          "messages a batch": messages / calls,
          "ms from batch to batch": (endedAt - beganAt) / calls,
          "messages/s": (messages * 1_000) / (endedAt - beganAt),
        },
      };
    });
  const one = { queues: queueNames("far-single", 1), tuning: { maxBatchMessages: 1 } };
  return {
    title: "delivering a backlog, one process",
    unit: "round trips a batch",
    better: "less",
    contenders: [
      contender(plainHundreds),
      contender(postrider),
      contender(single, all / 10, one),
      ...bench.peers.map((peer) => contender(peer)),
    ],
    pledges: [postrider, single].map(({ title }) => ({ promise: "rtt-deliver" as const, contender: title, bound: 1 })),
  };
}

function sleeping(bench: Bench): Comparison {
  return {
    title: "20 messages a second to a process that sleeps",
    unit: "round trips a message",
    better: "less",
    contenders: [plainRows, postrider, ...bench.peers].map((entry) =>
      distant(bench, entry, { queues: queueNames("far-asleep", 1) }, async ({ near, far, trips }) => {
        const [publisher, consumer] = [await near(), await far()];
        await publisher.open();
        await consumer.consume();
        await collect([consumer], { count: await publisher.burst(5) });
        const before = trips();
        const sent = await publisher.steady({ rate: 20, ms: bench.measureMs });
        const { messages, latencies } = await collect([consumer], { count: sent });
        return {
          value: (trips() - before) / messages,
          also: {
            "p50 from publish to handler, ms": percentile(latencies, 0.5),
            "p99, ms": percentile(latencies, 0.99),
          },
        };
      }),
    ),
  };
}

interface Distant {
  /** Starts a process next to the database. */
  near(): Promise<SystemProcess>;
  /** Starts one behind the slow network. */
  far(): Promise<SystemProcess>;
  /** Round trips through that network so far. */
  trips(): number;
}

function distant(
  bench: Bench,
  entry: SystemEntry,
  options: Omit<ContestOptions, "wake">,
  measure: (parts: Distant) => Promise<Sample>,
): Contender {
  return fresh(bench, entry, { ...options, wake: true }, async (start) => {
    const network = await startProxy(bench.directConnectionString, { rtt });
    const beyond: SystemProcess[] = [];
    const far = async () => {
      const process = await start({ connectionString: network.connectionString });
      beyond.push(process);
      return process;
    };
    try {
      const near = () => start({ connectionString: bench.directConnectionString });
      return await measure({ near, far, trips: () => network.roundTrips() });
    } finally {
      // While the network still carries their farewells.
      await Promise.all(beyond.map((process) => process.stop()));
      await network.stop();
    }
  });
}
