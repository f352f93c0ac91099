/** The leases this node holds: what the heartbeat prolongs, and whose handlers it aborts when they are lost. */
import type { HeartbeatAnswer } from "../backend/backend.js";
import type { Lease } from "../batch/batch.js";
import { monotonicMs } from "../time.js";

/** A batch, or of what only went through here, its lease. */
type Sized = Lease & { readonly bytes?: number };

interface Held {
  readonly lease: Sized;
  readonly abort: AbortController;
  readonly heldAt: number;
  /** When the node last asked the database to keep the lease, and it did. */
  keptAt: number;
  /** Without a heartbeat for this long, others may take the batch: its handler is told to stop before that. */
  readonly fenceAfterMs: number;
  lost: boolean;
  /** The node itself told the handler to stop: what it throws now is no failure of its own. */
  excused: boolean;
  /** Statements under way that settle it: its row may be gone because we deleted it. */
  settling: number;
}

export class InFlight {
  readonly #held = new Map<string, Held>();

  /**
   * Takes charge of a claimed batch. Its handler call's controller, which batches of one call share, aborts when it is lost,
   * and in time before others may take it.
   */
  hold(lease: Sized, orphanAfterMs: number, abort: AbortController): void {
    const now = monotonicMs();
    // Two seconds before the database may give it away (R3), but never before half of that time.
    const fenceAfterMs = Math.max(orphanAfterMs / 2, orphanAfterMs - 2_000);
    const fresh = { lost: false, excused: false, settling: 0 };
    this.#held.set(keyOf(lease), { lease, abort, heldAt: now, keptAt: now, fenceAfterMs, ...fresh });
  }

  letGo(lease: Lease): void {
    this.#held.delete(keyOf(lease));
  }

  isHeld(lease: Lease): boolean {
    return this.#held.has(keyOf(lease));
  }

  /** Also true of what is no longer held. */
  isLost(lease: Lease): boolean {
    return this.#held.get(keyOf(lease))?.lost ?? true;
  }

  /** Bytes of all payloads held. */
  get bytes(): number {
    let sum = 0;
    for (const { lease } of this.#held.values()) sum += lease.bytes ?? 0;
    return sum;
  }

  isExcused(lease: Lease): boolean {
    return this.#held.get(keyOf(lease))?.excused ?? true;
  }

  leases(): readonly Lease[] {
    return [...this.#held.values()].filter(({ lost }) => !lost).map(({ lease }) => lease);
  }

  /** Marks what a statement is about to settle; the returned function takes the mark away again. */
  settling(leases: readonly Lease[]): () => void {
    const marked = leases.flatMap((lease) => this.#held.get(keyOf(lease)) ?? []);
    for (const held of marked) held.settling += 1;
    return () => {
      for (const held of marked) held.settling -= 1;
    };
  }

  /** What the database said of each lease when asked at `askedAt`. Answers those that were taken over by somebody else. */
  apply(leases: readonly Lease[], answers: ReadonlyMap<string, HeartbeatAnswer>, askedAt: number): readonly Lease[] {
    const takenOver: Lease[] = [];
    for (const lease of leases) {
      const held = this.#held.get(keyOf(lease));
      if (held === undefined || held.lost) continue;
      const answer = answers.get(lease.token);
      if (answer === "kept") held.keptAt = askedAt;
      if (answer !== "lost") continue;
      held.lost = true;
      // The settling statement knows whether it found the batch, and says so.
      if (held.settling > 0) continue;
      held.abort.abort(new Error("the batch was taken over by recovery"));
      takenOver.push(lease);
    }
    return takenOver;
  }

  /**
   * Aborts what has had no heartbeat for too long: the database may be about to give it to somebody else. Answers how long
   * the next one may still wait.
   */
  fence(): number {
    const now = monotonicMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const held of this.#held.values()) {
      const leftMs = held.keptAt + held.fenceAfterMs - now;
      if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
      else this.#excuse(held, new Error("no heartbeat reached the database: the batch may be given to another node"));
    }
    return nextMs;
  }

  /** Aborts every running handler's signal. */
  abortAll(reason: Error): void {
    for (const held of this.#held.values()) this.#excuse(held, reason);
  }

  /** How long the oldest batch has been here, in ms; undefined when there is none. */
  get oldestMs(): number | undefined {
    const [oldest] = this.#held.values();
    return oldest === undefined ? undefined : monotonicMs() - oldest.heldAt;
  }

  #excuse(held: Held, reason: Error): void {
    if (held.abort.signal.aborted) return;
    held.excused = true;
    held.abort.abort(reason);
  }
}

function keyOf({ id, token }: Lease): string {
  return `${id}:${token}`;
}
