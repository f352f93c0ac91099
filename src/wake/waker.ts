/**
 * Wakes other nodes after this one's commits, coalesced: the first wake goes out at once, those within the next 5 ms leave
 * together. A commit that carried its NOTIFY would hold a cluster-wide lock across its flush; a transaction that only
 * notifies is not even flushed.
 */
import type { Backend } from "../backend/backend.js";
import type { Instrument } from "../instrument.js";
import { doublingMs, pause } from "../time.js";

const gatherMs = 5;
const maxResends = 5;

export class Waker {
  readonly #backend: Backend;
  readonly #instrument: Instrument;
  readonly #pending = new Set<string>();
  #sending: Promise<void> | undefined;

  constructor(backend: Backend, instrument: Instrument) {
    this.#backend = backend;
    this.#instrument = instrument;
  }

  /** Returns at once; nobody's publish waits for it. */
  wake(queues: Iterable<string>): void {
    for (const queue of queues) this.#pending.add(queue);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#pending.size > 0) this.wake([]);
    });
  }

  /** Resolves when everything asked for so far has been sent. */
  async drained(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#pending.size > 0) {
      const queues = [...this.#pending];
      this.#pending.clear();
      await this.#sendOnce(queues);
      if (this.#pending.size > 0) await pause(gatherMs);
    }
  }

  // A wake that cannot be sent costs its queues a wait of pollMs, nothing more: it is resent for a while, then let go.
  async #sendOnce(queues: readonly string[]): Promise<void> {
    for (let resends = 0; ; resends += 1) {
      try {
        await this.#backend.wake(queues);
        return;
      } catch (error) {
        this.#instrument.emit("error", { part: "waker", error });
        if (resends === maxResends || !this.#backend.isPassing(error)) return;
        await pause(doublingMs(resends, 50, 1_000));
      }
    }
  }
}
