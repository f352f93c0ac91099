/** Stores every batch twice: what at-least-once delivery may do anyway, done always (K3). */
import type { Backend, OpenTransaction } from "../backend/backend.js";
import type { NewBatch } from "../batch/batch.js";
import { decorate } from "./decorate.js";

/** The backend, delivering everything twice. Publishers are told the first of each two ids. */
export function duplicateDelivery(backend: Backend): Backend {
  return decorate(backend, {
    async publish(batches, tx) {
      const { ids, announced } = await backend.publish(twice(batches), tx);
      return { ids: firsts(ids), announced };
    },
    async begin(options) {
      return publishingTwice(await backend.begin(options));
    },
  });
}

function publishingTwice(transaction: OpenTransaction): OpenTransaction {
  return { ...transaction, publish: async (batches) => firsts(await transaction.publish(twice(batches))) };
}

export function twice(batches: readonly NewBatch[]): readonly NewBatch[] {
  return batches.flatMap((batch) => [batch, batch]);
}

function firsts(ids: readonly string[]): readonly string[] {
  return ids.filter((_, index) => index % 2 === 0);
}
