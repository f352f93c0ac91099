/** Publishing beside plain SQL: one awaiting caller, sixty-four, and in bulk. Validation is on. */
import pg from "pg";
import { createClient } from "../../generated/index.js";
import { order } from "../order.js";
import type { Bench, Comparison, Scenario } from "../scenario.js";

export const scenario: Scenario = {
  name: "publish",
  description: "messages stored a second, each caller awaiting its publish",
  prepare: async (bench) => {
    const plain = new pg.Pool({ connectionString: bench.connectionString, max: 10 });
    plain.on("error", () => undefined);
    await plain.query("create table plain (id bigint generated always as identity primary key, payload text not null)");
    const comparisons: Comparison[] = [
      awaiting(bench, plain, 1, 0.7),
      awaiting(bench, plain, 64, 8),
      bulk(bench, plain),
    ];
    return comparisons;
  },
};

function awaiting(bench: Bench, plain: pg.Pool, callers: number, promised: number): Comparison {
  const client = createClient({ connectionString: bench.connectionString });
  const insert = (number: number) =>
    plain.query("insert into plain (payload) values ($1)", [JSON.stringify([order(number)])]);
  return {
    title: `${callers} awaiting caller${callers === 1 ? "" : "s"}`,
    unit: "messages/s",
    better: "more",
    promises: { postrider: promised },
    contenders: [
      { name: "plain SQL, a row a message", measure: () => rateOf(bench, callers, insert) },
      {
        name: "postrider",
        measure: () => rateOf(bench, callers, (number) => client.publishTo.orderPlaced(order(number))),
        close: () => client.stop(),
      },
    ],
  };
}

function bulk(bench: Bench, plain: pg.Pool): Comparison {
  const client = createClient({ connectionString: bench.connectionString });
  const hundred = (number: number) => Array.from({ length: 100 }, (_, index) => order(number * 100 + index));
  const insert = (number: number) =>
    plain.query("insert into plain (payload) values ($1)", [JSON.stringify(hundred(number))]);
  return {
    title: "bulk, 4 callers, 100 messages at a time",
    unit: "messages/s",
    better: "more",
    promises: { postrider: 0.75 },
    contenders: [
      { name: "plain SQL, a row a hundred messages", measure: async () => 100 * (await rateOf(bench, 4, insert)) },
      {
        name: "postrider",
        measure: async () =>
          100 * (await rateOf(bench, 4, (number) => client.publishTo.orderPlaced.many(hundred(number)))),
        close: async () => {
          await client.stop();
          await plain.end();
        },
      },
    ],
  };
}

/** Calls a second of so many callers, each awaiting its own. */
async function rateOf(
  { measureMs }: Bench,
  callers: number,
  call: (number: number) => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  let calls = 0;
  const caller = async () => {
    while (performance.now() - startedAt < measureMs) {
      calls += 1;
      await call(calls);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (calls * 1_000) / (performance.now() - startedAt);
}
