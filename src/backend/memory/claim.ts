/** Leases the next batches: `claim`, `pick` and `admit` of the SQL functions, on the memory backend's tables. */
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

/** Until a queue of these that its rate holds back has more to give; for ever where none is held back. */
export function rateDueInMs(store: Store, wants: PollRequest["wants"]): number {
  const due = wants.map(({ queue }) => {
    const { rate, handedOut, paused } = store.queue(queue);
    const waits = !paused && (store.pending.get(queue)?.size ?? 0) > 0;
    return rate === undefined || !waits ? Infinity : handedOut.dueInMs(rate, store.now());
  });
  return Math.min(...due);
}

function pick(store: Store, { queue, limit, version, merge }: Want, room: Room): Picked[] {
  const { paused, slots, orderBy, rate } = store.queue(queue);
  const calls = paused ? 0 : Math.min(limit, freeSlots(store, queue));
  const most = slots.length > 0 || orderBy !== undefined || rate !== undefined ? undefined : merge;
  const picked: Picked[] = [];
  let call = 0;
  let taken = 0;
  let open = { messages: 0, bytes: 0, mergeable: false };
  if (calls <= 0) return picked;
  const allowance = allowanceOf(store, queue);
  for (const row of store.pending.get(queue)?.items ?? []) {
    if (row.version > version || !isReady(store, row)) continue;
    if (!allowance(row)) break;
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

function isReady(store: Store, row: Row): boolean {
  const { orderBy } = store.queue(row.queue);
  return orderBy === undefined || store.lines.isReady(row, orderBy.onFailure);
}

/** Whether the queue's rate allows a row after those it was asked about before. */
function allowanceOf(store: Store, queue: string): (row: Row) => boolean {
  const { rate, handedOut } = store.queue(queue);
  if (rate === undefined) return () => true;
  const left = handedOut.left(rate, store.now());
  let messages = 0;
  return ({ messageCount }) => {
    // What alone is more than the limit (a lowered setting) goes when nothing else has gone.
    const isFirst = messages === 0 && left === rate.limit;
    messages += messageCount;
    return isFirst || messages <= left;
  };
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
  const { slots, maxAttempts, rate, handedOut } = store.queue(row.queue);
  const free = slots.indexOf(undefined);
  if (free !== -1) slots[free] = row.id;
  if (rate !== undefined) handedOut.note(store.now(), row.messageCount);
  store.take(row, owner);
  return claimedBatch(row, maxAttempts, call);
}
