/**
 * Poison batches: what a batch of several messages comes to that fails its last time, or that has seen its node die twice.
 * It is replaced by batches of one, so that one bad message does not bury ninety-nine others (D4, R5).
 */
import type { FailedBatch } from "../backend/backend.js";
import { type Delivery, singleOf } from "./delivery.js";
import type { Settler } from "./settle.js";

/** From so many crashes on a batch runs alone: the next crash then names its culprit. */
export const crashesUntilAlone = 2;

/** Whether this batch is to be divided before anything of it runs. */
export function isSuspect({ batch, messages }: Delivery): boolean {
  return batch.crashes >= crashesUntilAlone && messages.length > 1;
}

/** Replaces the batch by batches of one; with a failure each has its last attempt before it, without one its counts go over. */
export async function divide(
  settler: Settler,
  delivery: Delivery,
  failure?: Omit<FailedBatch, "lease">,
): Promise<void> {
  const singles = [...delivery.messages.keys()].map((index) => singleOf(delivery, index));
  await settler.divide(delivery.batch, { singles, ...(failure === undefined ? {} : { failure }) });
}

/** One failure more for each. The backend decides whether it was the last one, and never lets a batch of several die of it. */
export async function retryOrDivide(
  settler: Settler,
  deliveries: readonly Delivery[],
  failureOf: (delivery: Delivery) => Omit<FailedBatch, "lease">,
): Promise<void> {
  const failures = new Map(deliveries.map((delivery) => [delivery, failureOf(delivery)]));
  // Raw SQL may have stored several messages and counted one: the backend would let that batch die whole.
  const isLast = ({ batch, messages }: Delivery) => messages.length > 1 && batch.failures + 1 >= batch.maxAttempts;
  const retried = [...failures].filter(([delivery]) => !isLast(delivery));
  const left = await settler.retry(retried.map(([{ batch }, failure]) => ({ lease: batch, ...failure })));
  for (const [delivery, failure] of failures) {
    if (isLast(delivery) || left.has(delivery.batch.id)) await divide(settler, delivery, failure);
  }
}
