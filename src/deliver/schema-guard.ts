/**
 * D6: a node whose last 100 batches of a queue all died of `schema` stops claiming it: a bad deploy must not bury a backlog.
 * Until the node is restarted or the queue resumed, anywhere: its rounds tell the database what it refuses, and learn from it.
 */
import type { Refusals } from "../backend/backend.js";
import type { Instrument } from "../instrument.js";

const deathsAllowed = 100;

interface Deaths {
  /** Batches in a row; one that reaches a handler, or dies of something else, begins anew. */
  count: number;
  lastBatchId: string;
}

export class SchemaGuard {
  readonly #instrument: Instrument;
  readonly #deaths = new Map<string, Deaths>();
  /** Queues, and whether the database knows. */
  readonly #stopped = new Map<string, boolean>();

  constructor(instrument: Instrument) {
    this.#instrument = instrument;
    instrument.on("handled", ({ queue }) => this.#deaths.delete(queue));
    // Of a batch that dies whole, each message is told.
    instrument.on("dead", ({ queue, batchId, reason }) => {
      if (reason === "schema") this.#note(queue, batchId);
      else this.#deaths.delete(queue);
    });
  }

  isStopped(queue: string): boolean {
    return this.#stopped.has(queue);
  }

  /** Queues that are not claimed any more. */
  get stopped(): readonly string[] {
    return [...this.#stopped.keys()];
  }

  /** For the next round; undefined where nothing is refused. */
  get refusals(): Refusals | undefined {
    if (this.#stopped.size === 0) return undefined;
    const of = (isKnown: boolean) => [...this.#stopped].flatMap(([queue, known]) => (known === isKnown ? queue : []));
    return { fresh: of(false), known: of(true) };
  }

  /** The database has heard of these. */
  noteHeard({ fresh }: Refusals): void {
    for (const queue of fresh) if (this.#stopped.has(queue)) this.#stopped.set(queue, true);
  }

  resume(queue: string): void {
    this.#deaths.delete(queue);
    this.#stopped.delete(queue);
  }

  #note(queue: string, batchId: string): void {
    const deaths = this.#deaths.get(queue) ?? { count: 0, lastBatchId: "" };
    this.#deaths.set(queue, deaths);
    if (deaths.lastBatchId === batchId) return;
    deaths.lastBatchId = batchId;
    deaths.count += 1;
    if (deaths.count < deathsAllowed || this.#stopped.has(queue)) return;
    this.#stopped.set(queue, false);
    this.#instrument.emit("refused", { queue, batches: deaths.count });
  }
}
