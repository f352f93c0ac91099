/**
 * Writes outcomes, those of a node together: while one statement is under way, the next acknowledgements gather. A statement
 * that fails is repeated until the lease is lost: the handler has run, and does not run again for that (D8).
 */
import type { Backend, DeadBatch, Division, FailedBatch, PartialSettlement } from "../backend/backend.js";
import type { Batch, Lease } from "../batch/batch.js";
import type { Instrument } from "../instrument.js";
import { doublingMs, pause } from "../time.js";
import type { InFlight } from "./in-flight.js";

/** Rows of one acknowledging statement. */
const maxAcksPerStatement = 500;

interface WaitingAck {
  readonly lease: Lease;
  readonly settled: () => void;
}

interface Written<T> {
  /** Undefined when every lease was lost before the statement could be written. */
  readonly answer: T | undefined;
  /** One try went unanswered: what is not found any more may have been settled by it, and is not counted as lost (D8). */
  readonly unsure: boolean;
}

export class Settler {
  readonly #backend: Backend;
  readonly #instrument: Instrument;
  readonly #inFlight: InFlight;
  #waiting: WaitingAck[] = [];
  #writing = false;

  constructor(backend: Backend, instrument: Instrument, inFlight: InFlight) {
    this.#backend = backend;
    this.#instrument = instrument;
    this.#inFlight = inFlight;
  }

  /** Resolves when the batch is acknowledged or lost. */
  ack(lease: Lease): Promise<void> {
    return new Promise((settled) => {
      this.#waiting.push({ lease, settled });
      if (!this.#writing) void this.#writeAcks();
    });
  }

  /** Answers `divide` where the batch was left as it is, for its owner to divide. */
  async retry(batch: Batch, failure: Omit<FailedBatch, "lease">): Promise<"divide" | undefined> {
    const { answer, unsure } = await this.#untilWritten([batch], () => {
      return this.#backend.retry([{ lease: batch, ...failure }]);
    });
    const outcome = answer?.get(batch.id);
    if (outcome === "divide") return outcome;
    if (outcome === "dead") this.#noteDead(batch, "attempts", failure.error);
    // Unsure: most likely it was written, and a due time that is looked for in vain costs nothing.
    else if (outcome === "delayed" || unsure) this.#noteRetried(batch);
    else this.#noteLost(batch, answer !== undefined);
    return undefined;
  }

  async divide(batch: Batch, division: Omit<Division, "lease">): Promise<void> {
    const { answer, unsure } = await this.#untilWritten([batch], () => {
      return this.#backend.divide({ lease: batch, ...division });
    });
    if (unsure || answer?.length) this.#noteRetried(batch);
    else this.#noteLost(batch, answer !== undefined);
  }

  async deadLetter(batch: Batch, dead: Omit<DeadBatch, "lease">): Promise<void> {
    const { answer, unsure } = await this.#untilWritten([batch], () => {
      return this.#backend.deadLetter([{ lease: batch, ...dead }]);
    });
    if (answer?.has(batch.id)) this.#noteDead(batch, dead.reason, dead.error);
    else if (!unsure) this.#noteLost(batch, answer !== undefined);
  }

  async release(batch: Lease, delayMs: number): Promise<void> {
    const { answer, unsure } = await this.#untilWritten([batch], () => this.#backend.release([batch], delayMs));
    if (!answer?.has(batch.id) && !unsure) this.#noteLost(batch, answer !== undefined);
  }

  /** Answers false when the batch was lost. */
  async part(batch: Batch, settlement: Omit<PartialSettlement, "lease">): Promise<boolean> {
    const { answer, unsure } = await this.#untilWritten([batch], () => {
      return this.#backend.settlePart({ lease: batch, ...settlement });
    });
    if (answer === undefined) {
      if (!unsure) this.#noteLost(batch, true);
      return false;
    }
    for (const { reason, error } of settlement.dead) this.#noteDead(batch, reason, error);
    if (answer === "delayed") this.#noteRetried(batch);
    return true;
  }

  async #writeAcks(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const acks = this.#waiting.splice(0, maxAcksPerStatement);
      const leases = acks.map(({ lease }) => lease);
      const { answer, unsure } = await this.#untilWritten(leases, () => this.#backend.ack(leases));
      for (const { lease, settled } of acks) {
        if (!answer?.has(lease.id) && !unsure) this.#noteLost(lease, answer !== undefined);
        settled();
      }
    }
    this.#writing = false;
  }

  /** Repeats a statement until it is written, or until every lease is lost. */
  async #untilWritten<T>(leases: readonly Lease[], statement: () => Promise<T>): Promise<Written<T>> {
    const areLost = () => leases.every((lease) => this.#inFlight.isLost(lease));
    const settled = this.#inFlight.settling(leases);
    let unsure = false;
    try {
      for (let failures = 0; ; failures += 1) {
        try {
          return { answer: await statement(), unsure };
        } catch (error) {
          unsure ||= this.#backend.isUnanswered(error);
          this.#instrument.emit("error", { part: "settling", error });
        }
        if (!areLost()) await pause(doublingMs(failures, 50, 2_000));
        if (areLost()) return { answer: undefined, unsure };
      }
    } finally {
      settled();
    }
  }

  // What is no longer held was given up by a forced stop, which is nobody's loss.
  #noteLost(lease: Lease, answered: boolean): void {
    if (!answered && !this.#inFlight.isHeld(lease)) return;
    this.#instrument.emit("leaseLost", { queue: lease.queue, batchId: lease.id });
  }

  #noteRetried({ queue, id }: Lease): void {
    this.#instrument.emit("retried", { queue, batchId: id });
  }

  #noteDead({ queue, id }: Lease, reason: string, error: string): void {
    this.#instrument.emit("dead", { queue, batchId: id, reason, error });
  }
}
