/** One publish call waiting in a buffer: its messages stand or fall together. */
import type { OutgoingMessage } from "../batch/outgoing.js";

/** Where an entry's messages went. */
export interface Placed {
  /** The batch of each message; of one that was skipped, the batch that holds its key. */
  readonly batchIds: readonly string[];
  /** Messages that were not stored: their key was taken (J9). */
  readonly skipped: number;
}

export class Entry {
  readonly messages: readonly OutgoingMessage[];
  readonly bytes: number;
  readonly promise: Promise<Placed>;
  #resolve: (placed: Placed) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  /** Writes it was part of that met a passing error, and when the first of them did, on the monotonic clock. */
  failures = 0;
  failingSince = 0;
  #onSettled: (() => void) | undefined;

  constructor(messages: readonly OutgoingMessage[]) {
    this.messages = messages;
    this.bytes = messages.reduce((sum, { bytes }) => sum + bytes, 0);
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Called once, when the entry is stored or given up. */
  onSettled(done: () => void): void {
    const earlier = this.#onSettled;
    this.#onSettled = () => {
      earlier?.();
      done();
    };
  }

  stored(placed: Placed): void {
    this.#onSettled?.();
    this.#resolve(placed);
  }

  failed(error: unknown): void {
    this.#onSettled?.();
    this.#reject(error);
  }
}
