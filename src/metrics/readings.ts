/** What one client's gauges read at this moment, kept from its events. */
import type { Instrument, QueueGauges } from "../instrument.js";
import { monotonicMs } from "../time.js";

/** A reading of the database counts for so long; a gauge that is missing tells more than one that stands still. */
const countsForMs = 90_000;

export class Readings {
  /** Undefined as long as the client has no listener that could be up or down. */
  listenerUp: boolean | undefined;
  readonly bufferDepths: () => ReadonlyMap<string, number>;
  readonly #overdue = new Map<string, number>();
  #queues: readonly QueueGauges[] = [];
  /** When the database was last read, on the monotonic clock. */
  #readAt = Number.NEGATIVE_INFINITY;

  /** @param bufferDepths - read when scraped: keeping it up to date would cost every publish */
  constructor(instrument: Instrument, bufferDepths: () => ReadonlyMap<string, number>) {
    this.bufferDepths = bufferDepths;
    instrument.on("listenerUp", () => {
      this.listenerUp = true;
    });
    instrument.on("listenerDown", () => {
      this.listenerUp = false;
    });
    instrument.on("gauges", ({ queues }) => {
      this.#queues = queues;
      this.#readAt = monotonicMs();
    });
    instrument.on("overdue", ({ queue, handlers }) => {
      this.#overdue.set(queue, (this.#overdue.get(queue) ?? 0) + handlers);
    });
  }

  get readAt(): number {
    return this.#readAt;
  }

  get queues(): readonly QueueGauges[] {
    return monotonicMs() - this.#readAt < countsForMs ? this.#queues : [];
  }

  /** Handlers that run on past their limit, per queue that ever had one. */
  get overdue(): ReadonlyMap<string, number> {
    return this.#overdue;
  }
}
