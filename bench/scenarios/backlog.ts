/** What a delivery costs when more and more is waiting. */
import pg from "pg";
import { fresh, queueNames } from "../contest.js";
import { claimTime, withFunctionTimes } from "../function-times.js";
import { order } from "../order.js";
import type { Bench, Contender, Scenario, Size } from "../scenario.js";
import { postrider } from "../systems/catalogue.js";

const sizes: Readonly<Record<Size, readonly number[]>> = {
  tiny: [100, 1_000],
  full: [10_000, 100_000, 1_000_000],
  long: [10_000, 100_000, 1_000_000, 10_000_000],
};

export const scenario: Scenario = {
  name: "backlog",
  description:
    "Queues in which 10 thousand to a million batches of one message wait (with --long also ten million), all in one table. One process delivers one after the other; time of a delivery: claimed, given to a handler that does nothing, acknowledged. Of that, what the server spends in the function that claims.",
  prepare: async (bench) => {
    const [smallest = 0, ...others] = sizes[bench.size];
    const largest = others.at(-1) ?? smallest;
    return [
      {
        title: "one delivery, by what waits",
        unit: "ms",
        better: "less",
        contenders: sizes[bench.size].map((waiting) => delivering(bench, waiting)),
        pledges: [
          {
            // Of ten million; with fewer it is an indication.
            ...(largest >= 10_000_000 ? { promise: "backlog" as const } : {}),
            contender: titleOf(largest),
            of: claimMs,
            against: [titleOf(smallest)],
            bound: 1.5,
          },
        ],
      },
    ];
  },
};

const claimMs = "of it claiming in the server, ms";

function titleOf(waiting: number): string {
  return `postrider, ${waiting.toLocaleString("en-US")} waiting`;
}

function delivering(bench: Bench, waiting: number): Contender {
  const [queue = ""] = queueNames(`backlog-${waiting}`, 1);
  let isFilled = false;
  const options = {
    connectionString: withFunctionTimes(bench.connectionString),
    queues: [queue],
    wake: false,
    tuning: { maxBatchMessages: 1 },
  };
  return fresh(bench, { ...postrider, title: titleOf(waiting) }, options, async (start) => {
    if (!isFilled) await fill(bench, queue, waiting);
    isFilled = true;
    const consumer = await start();
    await consumer.open();
    const before = await claimTime(bench.directConnectionString);
    const wanted = Math.min(1_000, waiting / 10);
    await consumer.consume();
    await consumer.until(wanted, bench.measureMs);
    const { calls, firstAt, lastAt } = await consumer.report();
    // A session tells what it counted when it ends.
    await consumer.stop();
    const after = await claimTime(bench.directConnectionString);
    return {
      value: (lastAt - firstAt) / Math.max(calls - 1, 1),
      also: { [claimMs]: (after.ms - before.ms) / Math.max(after.calls - before.calls, 1) },
    };
  });
}

// Straight into the table: ten million publishes would take longer than what is to be measured.
async function fill({ directConnectionString, note }: Bench, queue: string, waiting: number): Promise<void> {
  const client = new pg.Client(directConnectionString);
  await client.connect();
  await client.query("set postrider.wake = off");
  for (let left = waiting; left > 0; left -= 500_000) {
    await client.query(
      `insert into postrider.queue_message_batch (queue_name, payload)
       select $1, jsonb_set($2, '{0,orderId}', to_jsonb('b-' || n))::text from generate_series(1, $3::int) n`,
      [queue, JSON.stringify([order("b", process.hrtime.bigint())]), Math.min(left, 500_000)],
    );
  }
  await client.query("vacuum analyze postrider.queue_message_batch");
  await client.end();
  note(`${waiting.toLocaleString("en-US")} batches stored in ${queue}`);
}
