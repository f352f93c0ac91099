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
    const outcomes = await this.#untilWritten([batch], () => this.#backend.retry([{ lease: batch, ...failure }]));
    const outcome = outcomes?.get(batch.id);
    if (outcome === "delayed") this.#instrument.emit("retried", { queue: batch.queue, batchId: batch.id });
    if (outcome === "dead") this.#noteDead(batch, "attempts", failure.error);
    if (outcome === undefined) this.#noteLost(batch);
    return outcome === "divide" ? outcome : undefined;
  }

  async divide(batch: Batch, division: Omit<Division, "lease">): Promise<void> {
    const ids = await this.#untilWritten([batch], () => this.#backend.divide({ lease: batch, ...division }));
    if (ids === undefined || ids.length === 0) this.#noteLost(batch);
    else this.#instrument.emit("retried", { queue: batch.queue, batchId: batch.id });
  }

  async deadLetter(batch: Batch, dead: Omit<DeadBatch, "lease">): Promise<void> {
    const ours = await this.#untilWritten([batch], () => this.#backend.deadLetter([{ lease: batch, ...dead }]));
    if (ours?.has(batch.id)) this.#noteDead(batch, dead.reason, dead.error);
    else this.#noteLost(batch);
  }

  async release(batch: Batch, delayMs: number): Promise<void> {
    const ours = await this.#untilWritten([batch], () => this.#backend.release([batch], delayMs));
    if (!ours?.has(batch.id)) this.#noteLost(batch);
  }

  /** Answers false when the batch was lost. */
  async part(batch: Batch, settlement: Omit<PartialSettlement, "lease">): Promise<boolean> {
    const answer = await this.#untilWritten([batch], () => this.#backend.settlePart({ lease: batch, ...settlement }));
    if (answer === undefined) {
      this.#noteLost(batch);
      return false;
    }
    for (const { reason, error } of settlement.dead) this.#noteDead(batch, reason, error);
    if (answer === "delayed") this.#instrument.emit("retried", { queue: batch.queue, batchId: batch.id });
    return true;
  }

  async #writeAcks(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const acks = this.#waiting.splice(0, maxAcksPerStatement);
      const leases = acks.map(({ lease }) => lease);
      let repeats = -1;
      const ours = await this.#untilWritten(leases, () => {
        repeats += 1;
        return this.#backend.ack(leases);
      });
      for (const { lease, settled } of acks) {
        // A repeated acknowledgement that finds nothing may have been carried out the first time: not a lost lease.
        if (repeats === 0 && !ours?.has(lease.id)) this.#noteLost(lease);
        settled();
      }
    }
    this.#writing = false;
  }

  /** Undefined when every lease was lost before the statement could be written. */
  async #untilWritten<T>(leases: readonly Lease[], statement: () => Promise<T>): Promise<T | undefined> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await statement();
      } catch (error) {
        this.#instrument.emit("error", { part: "settling", error });
        if (leases.every((lease) => this.#inFlight.isLost(lease))) return undefined;
        await pause(doublingMs(failures, 50, 2_000));
      }
    }
  }

  #noteLost({ queue, id }: Lease): void {
    this.#instrument.emit("leaseLost", { queue, batchId: id });
  }

  #noteDead({ queue, id }: Lease, reason: string, error: string): void {
    this.#instrument.emit("dead", { queue, batchId: id, reason, error });
  }
}
