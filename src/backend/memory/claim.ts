/** Leases the next batches: `claim` and `pick` of the SQL functions, on the memory backend's tables. */
import type { Batch } from "../../batch/batch.js";
import type { PollRequest, Want } from "../backend.js";
import { claimedBatch, type Row } from "./row.js";
import type { Store } from "./store.js";

/** What an answer may still hold, in bytes: of this queue, and of all. */
interface Room {
  readonly share: number;
  readonly all: number;
  /** Nothing is in the answer yet: its first batch comes whatever its size. */
  readonly first: boolean;
}

interface Picked {
  readonly row: Row;
  readonly call: number;
}

export function claim(
  store: Store,
  { owner, wants, maxBytes }: Pick<PollRequest, "owner" | "wants" | "maxBytes">,
): Batch[] {
  const batches: Batch[] = [];
  let all = maxBytes;
  for (const [index, want] of wants.entries()) {
    const room = { share: Math.floor(all / (wants.length - index)), all, first: batches.length === 0 };
    for (const { row, call } of pick(store, want, room)) {
      all -= row.bytes;
      batches.push(take(store, row, owner, call));
    }
  }
  return batches;
}

function pick(store: Store, { queue, limit, version, merge }: Want, room: Room): Picked[] {
  const { paused, slots } = store.queue(queue);
  const calls = paused ? 0 : Math.min(limit, freeSlots(store, queue));
  const most = slots.length > 0 ? undefined : merge;
  const picked: Picked[] = [];
  let call = 0;
  let taken = 0;
  let open = { messages: 0, bytes: 0, mergeable: false };
  if (calls <= 0) return picked;
  for (const row of store.pending.get(queue)?.items ?? []) {
    if (row.version > version) continue;
    const limitBytes = picked.length > 0 ? room.share : room.first ? row.bytes : room.all;
    if (taken + row.bytes > limitBytes) break;
    const mergeable = row.failures === 0 && row.crashes === 0 && row.chain === undefined;
    const fits =
      most !== undefined && open.messages + row.messageCount <= most.messages && open.bytes + row.bytes <= most.bytes;
    if (!(open.mergeable && mergeable && fits)) {
      if (call === calls) break;
      call += 1;
      open = { messages: 0, bytes: 0, mergeable };
    }
    open.messages += row.messageCount;
    open.bytes += row.bytes;
    taken += row.bytes;
    picked.push({ row, call });
  }
  return picked;
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

function take(store: Store, row: Row, owner: string, call: number): Batch {
  const { slots, maxAttempts } = store.queue(row.queue);
  const free = slots.indexOf(undefined);
  if (free !== -1) slots[free] = row.id;
  store.take(row, owner);
  return claimedBatch(row, maxAttempts, call);
}
