/** The lines that must be refused: what a careless export, a typing error and a cut-off upload leave behind. */
import type { Line } from "./order.js";

type Order = Record<string, unknown>;

/** Each makes one bad line, as text, out of a good order. */
export const faults: readonly ((order: Order) => string)[] = [
  (order) => text({ ...order, total: "49.90" }),
  (order) => text(without(order, "currency")),
  (order) => text({ ...order, coupon: "SPRING-10" }),
  (order) => text({ ...order, lines: [{ sku: "MUG-BLU-01", quantity: 1.5, unitPrice: 12 }] }),
  (order) => text({ ...order, address: { ...(order.address as object), country: "Österreich" } }),
  (order) => text({ ...order, placedAt: "yesterday, about noon" }),
  (order) => text({ ...order, customer: { ...(order.customer as object), email: "not an address" } }),
  (order) => text({ ...order, payment: { method: "card", dueDays: 30 } }),
  (order) => text({ ...order, note: "x".repeat(10_001) }),
  (order) => text(order).slice(0, -40),
  (order) => text(order, "order-place"),
  (order) => JSON.stringify({ message: order }),
  () => text({ documentId: "", kind: "product" }, "search-reindex"),
  (order) => text({ to: order.customer, template: "order-confirmed" }, "email-send"),
];

function text(message: unknown, queue = "order-placed"): string {
  return JSON.stringify({ queue, message } satisfies Line);
}

function without(order: Order, property: string): Order {
  const { [property]: _, ...rest } = order;
  return rest;
}
