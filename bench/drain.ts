/** Emptying a backlog by one process, the measurement of several scenarios. */
import { type ContestOptions, fresh } from "./contest.js";
import type { Bench, Contender } from "./scenario.js";
import type { SystemEntry } from "./systems/catalogue.js";

export interface DrainOptions extends ContestOptions {
  /** Messages that wait when it begins. */
  readonly waiting: number;
  /** Where a system is not done by then, its rate until then counts; what is left is topped up for the next measurement. */
  readonly limitMs: number;
  readonly handleMs?: number;
}

export function draining(
  bench: Bench,
  entry: SystemEntry,
  { waiting, limitMs, handleMs = 0, ...options }: DrainOptions,
): Contender {
  let left = 0;
  return fresh(bench, entry, options, async (start) => {
    const filler = await start();
    left += await filler.fill(Math.max(options.queues.length, waiting - left));
    await filler.stop();
    const consumer = await start();
    const tripsBefore = bench.roundTrips();
    await consumer.consume(handleMs);
    await consumer.until(left, limitMs);
    const trips = bench.roundTrips();
    const { messages, calls, firstAt, lastAt } = await consumer.report();
    // Handlers that were running when the time was up have ended since.
    const last = await consumer.stop();
    left -= messages + (last?.messages ?? 0);
    return {
      value: (messages * 1_000) / Math.max(lastAt - firstAt, 1),
      also: {
        "messages a handler call": messages / calls,
        ...(trips === undefined || tripsBefore === undefined
          ? {}
          : { "round trips a handler call": (trips - tripsBefore) / calls }),
      },
    };
  });
}
