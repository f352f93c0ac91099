/** Leases the next batches: `claim` of the SQL functions, on the memory backend's tables. */
import type { Batch } from "../../batch/batch.js";
import type { PollRequest, Want } from "../backend.js";
import { claimedBatch, type Row } from "./row.js";
import type { Store } from "./store.js";

export function claim(
  store: Store,
  { owner, wants, maxBytes }: Pick<PollRequest, "owner" | "wants" | "maxBytes">,
): Batch[] {
  const picked = wants.map((want) => pick(store, want));
  const batches: Batch[] = [];
  let bytes = 0;
  // The first of each queue before the second of any: the bound on bytes starves nobody.
  for (let place = 0; picked.some((rows) => place < rows.length); place += 1) {
    for (const rows of picked) {
      const row = rows[place];
      if (row === undefined) continue;
      bytes += row.bytes;
      if (bytes > maxBytes && bytes !== row.bytes) return batches;
      batches.push(take(store, row, owner));
    }
  }
  return batches;
}

function pick(store: Store, { queue, limit, version }: Want): Row[] {
  const { paused } = store.queue(queue);
  const room = paused ? 0 : Math.min(limit, freeSlots(store, queue));
  return store.pending.get(queue)?.first(room, (row) => row.version <= version) ?? [];
}

// A queue that just became exclusive drains first: no slot is free while something is in flight without one.
function freeSlots(store: Store, queue: string): number {
  const { slots } = store.queue(queue);
  if (slots.length === 0) return Number.POSITIVE_INFINITY;
  for (const row of store.processing.values()) {
    if (row.queue === queue && !slots.includes(row.id)) return 0;
  }
  return slots.filter((batch) => batch === undefined).length;
}

function take(store: Store, row: Row, owner: string): Batch {
  const { slots, maxAttempts } = store.queue(row.queue);
  const free = slots.indexOf(undefined);
  if (free !== -1) slots[free] = row.id;
  store.take(row, owner);
  return claimedBatch(row, maxAttempts);
}
