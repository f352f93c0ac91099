/**
 * Low-water marks. While somebody holds an old snapshot (a long report, pg_dump), nothing can remove the index entries of
 * batches that are done, and every claim reads them all before it finds a live one: 15 ms behind 100,000 of them. A node
 * therefore remembers, per queue and priority, where it found work two seconds ago, and begins there: 0.1 ms.
 *
 * Correctness never depends on it. What lies below a mark (a transaction that published for longer than two seconds, a batch
 * that came back) is found by the next full look, which is due after a second, or fifty times as long as the last one took.
 */
import type { Mark, PollResult } from "../backend/backend.js";
import type { Batch } from "../batch/batch.js";

/** Below this a full look costs nothing worth saving. */
const worthwhileMs = 2;
const bucketMs = 1_000;
const settledAfterMs = 2_000;
const fullEveryMs = 1_000;
/** Full looks may take a fiftieth of the time. */
const fullShare = 50;

/** The smallest id claimed within one second. */
interface Bucket {
  readonly from: number;
  least: string;
}

export class LowWater {
  /** By queue, by priority: oldest first, the newest of those that are settled at the head. */
  readonly #claimed = new Map<string, Map<number, Bucket[]>>();
  /** Queues with something below their marks, and how many looks had begun when it came back. */
  readonly #forgotten = new Map<string, number>();
  #looks = 0;
  #fullAt = Number.NEGATIVE_INFINITY;
  #allForgottenAt = -1;
  #fullMs = 0;

  /** Where to begin looking in these queues; none when a full look is due, or too cheap to be avoided. */
  marks(queues: readonly string[], now: number): readonly Mark[] {
    this.#looks += 1;
    if (this.#fullMs < worthwhileMs || this.fullDueInMs(now) <= 0) return [];
    return queues
      .filter((queue) => !this.#forgotten.has(queue))
      .flatMap((queue) => [...(this.#claimed.get(queue) ?? [])].flatMap((entry) => markOf(queue, entry, now)));
  }

  /** Until the next full look, in ms; for ever while every look is full. */
  fullDueInMs(now: number): number {
    if (this.#fullMs < worthwhileMs) return Number.POSITIVE_INFINITY;
    return this.#fullAt + Math.max(fullEveryMs, fullShare * this.#fullMs) - now;
  }

  /** What a look found, and with which marks it looked. */
  note(result: PollResult, { queues, marks, now }: { queues: readonly string[]; marks: readonly Mark[]; now: number }) {
    if (marks.length === 0 && queues.length > 0) {
      if (this.#allForgottenAt < this.#looks) this.#fullAt = now;
      this.#fullMs = result.scanMs ?? this.#fullMs;
    }
    // A queue without a mark was looked through from its beginning. What came back during the look may have been missed.
    for (const queue of queues) {
      if ((this.#forgotten.get(queue) ?? 0) < this.#looks) this.#forgotten.delete(queue);
    }
    for (const batch of result.batches) this.#noteClaim(batch, now);
  }

  /** Something has come back to this queue, below its marks; no queue: to any. */
  forget(queue?: string): void {
    if (queue !== undefined) {
      this.#forgotten.set(queue, this.#looks);
      return;
    }
    this.#fullAt = Number.NEGATIVE_INFINITY;
    this.#allForgottenAt = this.#looks;
  }

  #noteClaim({ queue, priority, id }: Batch, now: number): void {
    const priorities = this.#claimed.get(queue) ?? new Map<number, Bucket[]>();
    const buckets = priorities.get(priority) ?? [];
    const last = buckets.at(-1);
    if (last === undefined || now - last.from >= bucketMs) buckets.push({ from: now, least: id });
    else if (isLess(id, last.least)) last.least = id;
    while (buckets[1] !== undefined && isSettled(buckets[1], now)) buckets.shift();
    this.#claimed.set(queue, priorities.set(priority, buckets));
  }
}

function markOf(queue: string, [priority, buckets]: readonly [number, Bucket[]], now: number): Mark[] {
  const settled = buckets.findLast((bucket) => isSettled(bucket, now));
  return settled === undefined ? [] : [{ queue, priority, fromId: settled.least }];
}

function isSettled({ from }: Bucket, now: number): boolean {
  return now - from - bucketMs >= settledAfterMs;
}

// 64-bit ids are strings; of one length they compare as text.
function isLess(a: string, b: string): boolean {
  return a.length - b.length < 0 || (a.length === b.length && a < b);
}
