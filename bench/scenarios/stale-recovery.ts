/** A node dies with its hands full, and the others race for what it held. */
import { collect } from "../collect.js";
import { fresh, queueNames } from "../contest.js";
import type { Bench, Contender, Scenario } from "../scenario.js";
import { postrider } from "../systems/catalogue.js";

// The shortest the settings allow, for the tiny form: twice the heartbeat and a second.
const hasty = { heartbeatMs: 100, orphanAfterMs: 1_200, pollMs: 200 };

export const scenario: Scenario = {
  name: "stale-recovery",
  description:
    "A node is killed (kill -9) while a hundred messages, each a batch of its own, are in its handlers. One or eight other nodes look for work of dead nodes, all at once. Time from the kill to the last of the hundred in a handler again, and how many came more than once.",
  prepare: async (bench) => [
    {
      title: "100 batches of a killed node",
      unit: "ms until all are handled",
      better: "less",
      repeats: 3,
      warmUp: false,
      contenders: (bench.size === "tiny" ? [1, 3] : [1, 8]).map((nodes) => racing(bench, nodes)),
      pledges: [1, 3, 8].flatMap((nodes) => [
        { promise: "recovery", contender: titleOf(nodes), bound: 15_000 },
        { promise: "recovery-once", contender: titleOf(nodes), of: "handled more than once", bound: 0 },
      ]),
    },
  ],
};

function titleOf(nodes: number): string {
  return `postrider, ${nodes} other node${nodes === 1 ? "" : "s"}`;
}

function racing(bench: Bench, nodes: number): Contender {
  const held = bench.size === "tiny" ? 10 : 100;
  const tuning = { maxBatchMessages: 1, ...(bench.size === "tiny" ? hasty : {}) };
  const options = { queues: queueNames(`recovery-${nodes}`, 1), wake: true, tuning };
  return fresh(bench, { ...postrider, title: titleOf(nodes) }, options, async (start) => {
    const victim = await start({ tuning: { ...tuning, concurrency: held } });
    await victim.fill(held);
    await victim.consume(3_600_000);
    await victim.until(held, 30_000);
    const others = await Promise.all(Array.from({ length: nodes }, () => start()));
    await Promise.all(others.map((other) => other.consume()));
    const killedAt = Number(process.hrtime.bigint()) / 1e6;
    await victim.kill();
    const { lastAt, imbalance, duplicates } = await collect(others, { count: held });
    return {
      value: lastAt - killedAt,
      also: { "handled more than once": duplicates, "busiest, of an even share": imbalance },
    };
  });
}
