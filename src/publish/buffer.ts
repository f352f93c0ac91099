/**
 * The buffer of one queue: gathers entries and writes them in order, one write at a time.
 *
 * Adaptive (P6): due at once, so a lone message pays one commit; what arrives during a write leaves together with the next.
 * Window (P7): due `windowMs` after the last entry, `maxMs` after the first, or when a batch is full.
 */
import { writeBounds } from "../backend/backend.js";
import { PostriderError } from "../errors.js";
import type { WindowBuffer } from "../queue/queue.js";
import { doublingMs, monotonicMs, pause, turnOfTheLoop } from "../time.js";
import type { Entry } from "./entry.js";
import { countOf, type WriteParams, type Written, write } from "./write.js";

/** How long an adaptive buffer goes on trying before it drops what it could not write. */
const adaptiveTriesForMs = 120_000;

/** From so many messages on a burst is worth two writes: encoding that many takes about as long as one write. */
const splitFrom = 32;

export class QueueBuffer {
  readonly #params: WriteParams;
  readonly #window: WindowBuffer | undefined;
  #pending: Entry[] = [];
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #firstAt = 0;
  /** Writes that have failed one after another. */
  #failures = 0;
  readonly #givenUp = new AbortController();

  constructor(params: WriteParams) {
    this.#params = params;
    const { buffer } = params.definition.settings;
    this.#window = typeof buffer === "object" ? buffer : undefined;
  }

  add(entry: Entry): void {
    if (this.#pending.length === 0) this.#firstAt = monotonicMs();
    this.#pending.push(entry);
    if (this.#window === undefined) this.#writeSoon();
    else this.#moveDeadline(this.#window);
  }

  /** Takes an entry out again; false when it is being written or is not here. */
  withdraw(entry: Entry): boolean {
    const place = this.#pending.indexOf(entry);
    if (place === -1) return false;
    this.#pending.splice(place, 1);
    return true;
  }

  get depth(): number {
    return countOf(this.#pending);
  }

  /** Stops trying: what a write under way does not store is dropped, and so is what has not been tried. */
  giveUp(): void {
    this.#givenUp.abort();
  }

  /** Writes everything now. Resolves when the buffer is empty: stored, refused or dropped. */
  async flush(): Promise<void> {
    while (this.#pending.length > 0 || this.#writing !== undefined) {
      this.#writeSoon();
      await this.#writing;
    }
  }

  #moveDeadline({ windowMs, maxMs }: WindowBuffer): void {
    clearTimeout(this.#timer);
    if (this.depth >= this.#params.definition.settings.maxBatchMessages) {
      this.#writeSoon();
      return;
    }
    const left = maxMs === 0 ? windowMs : Math.min(windowMs, this.#firstAt + maxMs - monotonicMs());
    this.#timer = setTimeout(() => this.#writeSoon(), Math.max(0, left));
  }

  #writeSoon(): void {
    clearTimeout(this.#timer);
    // A microtask later, so that everything published in this turn of the loop leaves in the same statement.
    this.#writing ??= Promise.resolve()
      .then(() => this.#writeAll())
      .finally(() => {
        this.#writing = undefined;
        // What came after the last look found a write under way, and relies on it.
        if (this.#pending.length > 0) this.#writeSoon();
      });
  }

  /**
   * One write at a time, so that what is published in order is stored in order. Where more is waiting, the next write leaves
   * before the promises of the last are resolved: their callers' code, and what they publish next, runs while the database
   * works, instead of one waiting for the other in turn.
   */
  async #writeAll(): Promise<void> {
    let writing = this.#beginWrite(this.#takePortion(this.#shareOfBurst()));
    while (writing !== undefined) {
      const { entries: left, error, resolve } = await writing;
      writing = left.length === 0 ? this.#beginWrite(this.#takePortion()) : undefined;
      if (writing !== undefined) await turnOfTheLoop();
      resolve();
      if (left.length === 0) {
        this.#failures = 0;
        continue;
      }
      this.#putBack(left, error);
      if (this.#pending.length > 0) await pause(doublingMs(this.#failures - 1, 100, 5_000), this.#givenUp.signal);
      writing = this.#beginWrite(this.#takePortion());
    }
    this.#failures = 0;
  }

  #beginWrite(portion: readonly Entry[]): Promise<Written> | undefined {
    return portion.length === 0 ? undefined : write(this.#params, portion);
  }

  #putBack(left: readonly Entry[], error: unknown): void {
    this.#failures += 1;
    const now = monotonicMs();
    for (const entry of left) {
      if (entry.failures === 0) entry.failingSince = now;
      entry.failures += 1;
    }
    const isDropped = (entry: Entry) => this.#hasGivenUp(entry, now);
    this.#drop(left.filter(isDropped), error);
    // To the front: what arrived meanwhile was published later.
    this.#pending.unshift(...left.filter((entry) => !isDropped(entry)));
  }

  // Sixty-four callers that wait for one write publish their next messages all at once when it is done, and the database has
  // nothing to do meanwhile. Split in two, one half's write covers the other half's work, from then on by itself.
  #shareOfBurst(): number {
    const entries = this.#pending.length;
    return entries > 1 && this.depth >= splitFrom ? Math.ceil(entries / 2) : entries;
  }

  #takePortion(maxEntries = Number.POSITIVE_INFINITY): Entry[] {
    const portion: Entry[] = [];
    let bytes = 0;
    let messages = 0;
    const maxMessages = writeBounds.rows * this.#params.definition.settings.maxBatchMessages;
    for (const entry of this.#pending) {
      bytes += entry.bytes;
      messages += entry.messages.length;
      if (portion.length === maxEntries) break;
      if (portion.length > 0 && (bytes > writeBounds.bytes || messages > maxMessages)) break;
      portion.push(entry);
    }
    this.#pending.splice(0, portion.length);
    return portion;
  }

  // By each entry's own tries: one that came late to an outage is not dropped with those that were there from the start.
  #hasGivenUp({ failures, failingSince }: Entry, now: number): boolean {
    if (this.#givenUp.signal.aborted) return true;
    if (this.#window === undefined) return now - failingSince >= adaptiveTriesForMs;
    return this.#window.maxAttempts !== 0 && failures >= this.#window.maxAttempts;
  }

  #drop(entries: readonly Entry[], cause: unknown): void {
    if (entries.length === 0) return;
    const { definition, instrument } = this.#params;
    const messages = countOf(entries);
    const error = new PostriderError(
      "ERR_BUFFER_DROPPED",
      `queue "${definition.name}": ${messages} messages could not be written and were dropped`,
      { cause, details: { queue: definition.name, messages } },
    );
    instrument.emit("bufferDropped", { queue: definition.name, messages, error });
    for (const entry of entries) entry.failed(error);
  }
}
