/** What a node costs that has nothing to do. */
import { setTimeout as sleep } from "node:timers/promises";
import { startProxy } from "../../test/support/proxy.js";
import { fresh, queueNames } from "../contest.js";
import type { Bench, Comparison, Contender, Scenario, Size } from "../scenario.js";
import { postrider, type SystemEntry } from "../systems/catalogue.js";

const idleMs: Readonly<Record<Size, number>> = { tiny: 1_000, full: 30_000, long: 300_000 };

const cpuShare = "CPU, % of a core";

export const scenario: Scenario = {
  name: "idle-cost",
  description:
    "A node that listens to 1 or to 1,000 queues in which nothing happens, for half a minute. Requests it sends to the database, and the share of one CPU core its process uses. BullMQ is left out of the second: its workers have a LISTEN connection each, a thousand where this server allows two hundred.",
  prepare: async (bench) =>
    (bench.size === "tiny" ? [1, 20] : [1, 1_000]).map((count): Comparison => {
      const peers = bench.peers.filter(({ name }) => count === 1 || name !== "bullmq");
      return {
        title: `${count.toLocaleString("en-US")} idle queue${count === 1 ? "" : "s"}`,
        unit: "statements/minute",
        better: "less",
        repeats: 1,
        warmUp: false,
        contenders: [postrider, ...peers].map((entry) => idling(bench, entry, count)),
        // 60 s / pollMs + 8, at the default of 5 s.
        pledges: [
          { promise: "idle-statements", contender: postrider.title, bound: 20 },
          { promise: "idle-cpu", contender: postrider.title, of: cpuShare, bound: 1 },
        ],
      };
    }),
};

function idling(bench: Bench, entry: SystemEntry, count: number): Contender {
  return fresh(bench, entry, { queues: queueNames(`idle-${count}`, count), wake: true }, async (start) => {
    // Counts what goes over the wire, on all connections.
    const counter = await startProxy(bench.connectionString);
    try {
      // The first process of a contender also prepares.
      const node = await start({ connectionString: counter.connectionString });
      await node.consume();
      // What a start costs is not what idling costs.
      await sleep(Math.min(3_000, idleMs[bench.size]));
      await node.report();
      const [before, startedAt] = [counter.roundTrips(), performance.now()];
      await sleep(idleMs[bench.size]);
      const [trips, ms] = [counter.roundTrips() - before, performance.now() - startedAt];
      const { cpuMs } = await node.report();
      await node.stop();
      return { value: (trips * 60_000) / ms, also: { [cpuShare]: (100 * cpuMs) / ms } };
    } finally {
      await counter.stop();
    }
  });
}
