/**
 * Makes `orders.jsonl`, the demo's input: a few thousand orders with the mess that real ones have. The same bytes every time.
 *
 *   node --import tsx examples/make-orders.ts
 */
import { writeFileSync } from "node:fs";
import { faults } from "./orders/faults.js";
import { type Line, makeConfirmation, makeOrder, makeReindex } from "./orders/order.js";
import { makeCustomers } from "./orders/people.js";
import { seededRandom } from "./orders/random.js";

const seed = 20_260_301;
const orderCount = 3_000;
const customerCount = 600;

/** The whole file, as lines. */
export function makeOrderLines(): readonly string[] {
  const random = seededRandom(seed);
  const customers = makeCustomers(random, customerCount);
  const lines: string[] = [];
  const put = (line: Line) => lines.push(JSON.stringify(line));
  const faultEvery = Math.floor(orderCount / faults.length);
  for (let number = 1; number <= orderCount; number += 1) {
    const customer = random.pick(customers);
    const order = makeOrder(random, number, customer);
    put({ queue: "order-placed", message: order });
    if (random.chance(0.15)) put(makeConfirmation(random, order, customer));
    if (random.chance(0.1)) put(makeReindex(random, customer));
    // The customer pressed the button twice, or corrected the order a moment later: the id comes again.
    if (random.chance(0.04))
      put({ queue: "order-placed", message: { ...order, note: "CORRECTED: please send as a gift 🎀" } });
    if (number % faultEvery === 0) lines.push(...faultyLine(number / faultEvery - 1, order));
  }
  return lines;
}

function faultyLine(index: number, order: Record<string, unknown>): readonly string[] {
  const fault = faults[index];
  return fault === undefined ? [] : [fault(order)];
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(new URL("orders.jsonl", import.meta.url), `${makeOrderLines().join("\n")}\n`);
}
