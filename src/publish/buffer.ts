/**
 * The buffer of one queue: gathers entries and writes them in order, one write at a time.
 *
 * Adaptive (P6): due at once, so a lone message pays one commit; what arrives during a write leaves together with the next.
 * Window (P7): due `windowMs` after the last entry, `maxMs` after the first, or when a batch is full.
 */
import { PostriderError } from "../errors.js";
import type { WindowBuffer } from "../queue/queue.js";
import { doublingMs, monotonicMs, pause } from "../time.js";
import type { Entry } from "./entry.js";
import { countOf, type Unwritten, type WriteParams, write } from "./write.js";

const maxRowsPerWrite = 50;
const maxBytesPerWrite = 8 * 1024 * 1024;
/** How long an adaptive buffer goes on trying before it drops what it could not write. */
const adaptiveTriesForMs = 120_000;

export class QueueBuffer {
  readonly #params: WriteParams;
  readonly #window: WindowBuffer | undefined;
  #pending: Entry[] = [];
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #firstAt = 0;
  /** Of the failure that still goes on. */
  #failures = 0;
  #failingSince = 0;

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
        if (this.#pending.length > 0 && this.#window === undefined) this.#writeSoon();
      });
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const left = await write(this.#params, this.#takePortion());
      if (left.entries.length === 0) {
        this.#failures = 0;
        continue;
      }
      if (this.#failures === 0) this.#failingSince = monotonicMs();
      this.#failures += 1;
      if (this.#hasGivenUp()) {
        this.#drop(left);
        continue;
      }
      // To the front: what arrived meanwhile was published later.
      this.#pending.unshift(...left.entries);
      await pause(doublingMs(this.#failures - 1, 100, 5_000));
    }
  }

  #takePortion(): Entry[] {
    const portion: Entry[] = [];
    let bytes = 0;
    let messages = 0;
    const maxMessages = maxRowsPerWrite * this.#params.definition.settings.maxBatchMessages;
    for (const entry of this.#pending) {
      bytes += entry.bytes;
      messages += entry.messages.length;
      if (portion.length > 0 && (bytes > maxBytesPerWrite || messages > maxMessages)) break;
      portion.push(entry);
    }
    this.#pending.splice(0, portion.length);
    return portion;
  }

  #hasGivenUp(): boolean {
    if (this.#window === undefined) return monotonicMs() - this.#failingSince >= adaptiveTriesForMs;
    return this.#window.maxAttempts !== 0 && this.#failures >= this.#window.maxAttempts;
  }

  #drop({ entries, error: cause }: Unwritten): void {
    const { definition, instrument } = this.#params;
    const messages = countOf(entries);
    const error = new PostriderError(
      "ERR_BUFFER_DROPPED",
      `queue "${definition.name}": ${messages} messages could not be written in ${this.#failures} attempts and were dropped`,
      { cause, details: { queue: definition.name, messages } },
    );
    this.#failures = 0;
    instrument.emit("bufferDropped", { queue: definition.name, messages, error });
    for (const entry of entries) entry.dropped(error);
  }
}
