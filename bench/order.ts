/** The message of the benchmarks: an order of about 600 bytes of JSON. */
import type { OrderPlaced } from "../generated/index.js";

const sent = "Please ring twice, the bell is quiet. Sent at ";

/** @param sentAt - by the machine's monotonic clock, `process.hrtime.bigint()`: the same in all its processes */
export function order(id: string, sentAt: bigint): OrderPlaced {
  return {
    orderId: `o-${id}`,
    customer: { customerId: "c-4711", name: "Zoë Çelik", email: "zoe.celik@example.org" },
    address: { name: "Zoë Çelik", street: "Karl-Marx-Allee 12", city: "Berlin", postalCode: "10178", country: "DE" },
    lines: [
      { sku: "SKU-10233", title: "Espresso beans, 1 kg", quantity: 2, unitPrice: 18.9 },
      { sku: "SKU-88101", title: "Paper filters, size 4", quantity: 1, unitPrice: 3.5 },
      { sku: "SKU-00412", title: "Milk jug, steel, 600 ml", quantity: 1, unitPrice: 24 },
    ],
    total: 65.3,
    currency: "EUR",
    payment: { method: "card", token: "tok_5f2b9a7c" },
    note: `${sent}${sentAt}`,
    placedAt: "2026-11-30T12:00:00Z",
  };
}

/** When the order was made, by the clock it was made with. */
export function sentAtOf({ note }: OrderPlaced): bigint {
  return BigInt((note ?? "").slice(sent.length));
}
