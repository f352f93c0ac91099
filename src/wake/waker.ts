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
  /** Queue names, and whether their wake-up is marked. */
  readonly #pending = new Map<string, boolean>();
  #sending: Promise<void> | undefined;

  constructor(backend: Backend, instrument: Instrument) {
    this.#backend = backend;
    this.#instrument = instrument;
  }

  /** Returns at once; nobody's publish waits for it. */
  wake(queues: Iterable<string>, marked = false): void {
    for (const queue of queues) this.#pending.set(queue, marked || this.#pending.get(queue) === true);
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
      const queues = [...this.#pending.keys()];
      const marked = [...this.#pending.values()].includes(true);
      this.#pending.clear();
      await this.#sendOnce(queues, marked);
      if (this.#pending.size > 0) await pause(gatherMs);
    }
  }

  // A wake that cannot be sent costs its queues a wait of pollMs, nothing more: it is resent for a while, then let go.
  async #sendOnce(queues: readonly string[], marked: boolean): Promise<void> {
    for (let resends = 0; ; resends += 1) {
      try {
        await this.#backend.wake(queues, marked);
        return;
      } catch (error) {
        this.#instrument.emit("error", { part: "waker", error });
        if (resends === maxResends || !this.#backend.isPassing(error)) return;
        await pause(doublingMs(resends, 50, 1_000));
      }
    }
  }
}
