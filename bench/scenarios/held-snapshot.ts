/** Somebody's report holds a snapshot open: nothing that is deleted meanwhile can be cleaned away. */
import pg from "pg";
import { collect } from "../collect.js";
import { fresh, queueNames } from "../contest.js";
import { percentile } from "../percentile.js";
import type { Bench, Contender, Scenario, Size } from "../scenario.js";
import { plainRows, postrider, type SystemEntry } from "../systems/catalogue.js";

const heldMs: Readonly<Record<Size, number>> = { tiny: 300, full: 30_000, long: 600_000 };
const nothing = "postrider, no snapshot held";
const held = "postrider, a snapshot held";

export const scenario: Scenario = {
  name: "held-snapshot",
  description:
    "One process publishes 500 messages a second, another handles them, for half a minute (with --long: ten minutes). Meanwhile a transaction elsewhere holds a snapshot, so that the rows of everything handled stay in the table. Time from publish to handler in the last fifth of that time, when it is worst.",
  prepare: async (bench) => [
    {
      title: `after ${heldMs[bench.size] / 1_000} s at 500 messages a second`,
      unit: "ms, p99",
      better: "less",
      repeats: 1,
      warmUp: false,
      contenders: [
        enduring(bench, { ...postrider, title: nothing }, false),
        enduring(bench, { ...postrider, title: held }, true),
        enduring(bench, { ...plainRows, title: "plain SQL, a snapshot held" }, true),
      ],
      pledges: [{ promise: "held-snapshot", contender: held, against: [nothing], bound: 3 }],
    },
  ],
};

function enduring(bench: Bench, entry: SystemEntry, isHeld: boolean): Contender {
  const options = { queues: queueNames(isHeld ? "held" : "free", 1), wake: true };
  return fresh(bench, entry, options, async (start) => {
    const [publisher, consumer] = [await start(), await start()];
    await publisher.open();
    await consumer.consume();
    const elsewhere = new pg.Client(bench.directConnectionString);
    await elsewhere.connect();
    if (isHeld) await elsewhere.query("begin isolation level repeatable read; select 1 from pg_class limit 1");
    const ms = heldMs[bench.size];
    await collect([consumer], { count: await publisher.steady({ rate: 500, ms: ms * 0.8 }) });
    const { latencies } = await collect([consumer], { count: await publisher.steady({ rate: 500, ms: ms * 0.2 }) });
    await elsewhere.end();
    return { value: percentile(latencies, 0.99), also: { "p50, ms": percentile(latencies, 0.5) } };
  });
}
