/**
 * Writes outcomes, those of a node together: while one statement is under way, the next acknowledgements gather. A statement
 * that fails is repeated until the lease is lost: the handler has run, and does not run again for that (D8).
 */
import type { Backend, DeadBatch, Division, FailedBatch, PartialSettlement } from "../backend/backend.js";
import type { Batch, Lease } from "../batch/batch.js";
import type { Instrument } from "../instrument.js";
import { doublingMs, pause } from "../time.js";
import type { InFlight } from "./in-flight.js";

/** Handler calls acknowledged by one statement. */
const maxAcksPerStatement = 100;

interface WaitingAck {
  readonly leases: readonly Lease[];
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

  /** Resolves when the batches are acknowledged or lost. */
  ack(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return Promise.resolve();
    return new Promise((settled) => {
      this.#waiting.push({ leases, settled });
      if (!this.#writing) void this.#writeAcks();
    });
  }

  /** Answers the ids of the batches that were left as they are, for their owner to divide. */
  async retry(failures: readonly FailedBatch[]): Promise<ReadonlySet<string>> {
    const left = new Set<string>();
    if (failures.length === 0) return left;
    const leases = failures.map(({ lease }) => lease);
    const { answer, unsure } = await this.#untilWritten(leases, () => this.#backend.retry(failures));
    for (const { lease, error } of failures) {
      const outcome = answer?.get(lease.id);
      if (outcome === "divide") left.add(lease.id);
      else if (outcome === "dead") this.#noteDead(lease, "attempts", error);
      // Unsure: most likely it was written, and a due time that is looked for in vain costs nothing.
      else if (outcome === "delayed" || unsure) this.#noteRetried(lease);
      else this.#noteLost(lease, answer !== undefined);
    }
    return left;
  }

  async divide(batch: Batch, division: Omit<Division, "lease">): Promise<void> {
    const { answer, unsure } = await this.#untilWritten([batch], () => {
      return this.#backend.divide({ lease: batch, ...division });
    });
    if (unsure || answer?.length) this.#noteRetried(batch);
    else this.#noteLost(batch, answer !== undefined);
  }

  async deadLetter(dead: readonly DeadBatch[]): Promise<void> {
    const leases = dead.map(({ lease }) => lease);
    const { answer, unsure } = await this.#untilWritten(leases, () => this.#backend.deadLetter(dead));
    for (const { lease, reason, error } of dead) {
      if (answer?.has(lease.id)) this.#noteDead(lease, reason, error);
      else if (!unsure) this.#noteLost(lease, answer !== undefined);
    }
  }

  async release(leases: readonly Lease[], delayMs: number): Promise<void> {
    if (leases.length === 0) return;
    const { answer, unsure } = await this.#untilWritten(leases, () => this.#backend.release(leases, delayMs));
    for (const lease of leases) if (!answer?.has(lease.id) && !unsure) this.#noteLost(lease, answer !== undefined);
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

  /**
   * Some messages leave a batch whose handler still runs. Tried once, and no loss is told: the heartbeats go on, and say so.
   * Answers whether it was written.
   */
  async partOfRunning(batch: Batch, settlement: Omit<PartialSettlement, "lease">): Promise<boolean> {
    try {
      if ((await this.#backend.settlePart({ lease: batch, ...settlement })) === undefined) return false;
    } catch (error) {
      this.#instrument.emit("error", { part: "settling", error });
      return false;
    }
    for (const { reason, error } of settlement.dead) this.#noteDead(batch, reason, error);
    return true;
  }

  async #writeAcks(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const acks = this.#waiting.splice(0, maxAcksPerStatement);
      const leases = acks.flatMap(({ leases }) => leases);
      const { answer, unsure } = await this.#untilWritten(leases, () => this.#backend.ack(leases));
      for (const lease of leases) {
        if (!answer?.has(lease.id) && !unsure) this.#noteLost(lease, answer !== undefined);
      }
      for (const { settled } of acks) settled();
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
