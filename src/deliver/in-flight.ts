/** The leases this node holds: what the heartbeat prolongs, and whose handlers it aborts when they are lost. */
import type { HeartbeatAnswer } from "../backend/backend.js";
import type { Batch, Lease } from "../batch/batch.js";
import { monotonicMs } from "../time.js";

interface Held {
  readonly batch: Batch;
  readonly abort: AbortController;
  readonly heldAt: number;
  /** When the database last said that the lease lives. */
  keptAt: number;
  /** Without a heartbeat for this long, others may take the batch: its handler is told to stop before that. */
  readonly fenceAfterMs: number;
  lost: boolean;
}

export class InFlight {
  readonly #held = new Map<string, Held>();
  #stopping = false;

  /** Takes charge of a claimed batch; the signal aborts when it is lost. */
  hold(batch: Batch, orphanAfterMs: number): AbortController {
    const abort = new AbortController();
    // Two seconds before the database may give it away (R3), but never before half of that time.
    const fenceAfterMs = Math.max(orphanAfterMs / 2, orphanAfterMs - 2_000);
    this.#held.set(keyOf(batch), {
      batch,
      abort,
      heldAt: monotonicMs(),
      keptAt: monotonicMs(),
      fenceAfterMs,
      lost: false,
    });
    return abort;
  }

  letGo(lease: Lease): void {
    this.#held.delete(keyOf(lease));
  }

  isLost(lease: Lease): boolean {
    return this.#held.get(keyOf(lease))?.lost ?? true;
  }

  /** Bytes of all payloads held. */
  get bytes(): number {
    let sum = 0;
    for (const { batch } of this.#held.values()) sum += batch.bytes;
    return sum;
  }

  leases(): readonly Lease[] {
    return [...this.#held.values()].filter(({ lost }) => !lost).map(({ batch }) => batch);
  }

  /** What the database said of each lease. */
  apply(leases: readonly Lease[], answers: ReadonlyMap<string, HeartbeatAnswer>): void {
    for (const lease of leases) {
      const held = this.#held.get(keyOf(lease));
      if (held === undefined) continue;
      const answer = answers.get(lease.id);
      if (answer === "kept") held.keptAt = monotonicMs();
      if (answer === "lost") this.#lose(held, "the batch was taken over by recovery");
    }
  }

  /** Aborts what has had no heartbeat for too long: the database may be about to give it to somebody else. */
  fence(): void {
    const now = monotonicMs();
    for (const held of this.#held.values()) {
      if (!held.lost && now - held.keptAt > held.fenceAfterMs) {
        held.abort.abort(new Error("no heartbeat reached the database: the batch may be given to another node"));
      }
    }
  }

  /** Aborts every running handler's signal. */
  abortAll(reason: Error): void {
    this.#stopping = true;
    for (const { abort } of this.#held.values()) abort.abort(reason);
  }

  /** Whether handlers were told to stop because the node does: what they throw now is no failure of theirs (R6). */
  get isStopping(): boolean {
    return this.#stopping;
  }

  /** How long the oldest batch has been here, in ms; undefined when there is none. */
  get oldestMs(): number | undefined {
    const [oldest] = this.#held.values();
    return oldest === undefined ? undefined : monotonicMs() - oldest.heldAt;
  }

  #lose(held: Held, why: string): void {
    held.lost = true;
    held.abort.abort(new Error(why));
  }
}

function keyOf({ id, token }: Lease): string {
  return `${id}:${token}`;
}
