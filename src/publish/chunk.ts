/** Messages of one queue into batches within the queue's bounds, in order (P11). */
import type { NewBatch } from "../batch/batch.js";
import type { OutgoingMessage } from "../batch/outgoing.js";
import { encodeMeta, encodePayload } from "../batch/payload.js";
import type { QueueDefinition } from "../queue/queue.js";

/** Takes messages one by one; a message that does not fit the last batch opens the next. */
export class Chunker {
  readonly #definition: QueueDefinition;
  readonly #chunks: OutgoingMessage[][] = [];
  #bytes = 0;
  #lastBytes = 0;

  constructor(definition: QueueDefinition) {
    this.#definition = definition;
  }

  /** The index of the batch the message went into. */
  add(message: OutgoingMessage): number {
    const last = this.#chunks.at(-1);
    if (last === undefined || !this.#fits(last, message)) {
      this.#chunks.push([message]);
      this.#lastBytes = 2 + message.bytes;
      this.#bytes += this.#lastBytes;
    } else {
      last.push(message);
      this.#lastBytes += 1 + message.bytes;
      this.#bytes += 1 + message.bytes;
    }
    return this.#chunks.length - 1;
  }

  get rows(): number {
    return this.#chunks.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  batches(): readonly NewBatch[] {
    return this.#chunks.map((messages) => this.#batch(messages));
  }

  #fits(last: readonly OutgoingMessage[], message: OutgoingMessage): boolean {
    const { maxBatchMessages, maxBatchBytes } = this.#definition.settings;
    const [first] = last;
    if (first === undefined || first.stowage.alone || message.stowage.alone) return false;
    if (first.stowage.key !== message.stowage.key) return false;
    return last.length < maxBatchMessages && this.#lastBytes + 1 + message.bytes <= maxBatchBytes;
  }

  #batch(messages: readonly OutgoingMessage[]): NewBatch {
    const stowage = (messages[0] as OutgoingMessage).stowage;
    const payload = encodePayload(messages);
    const meta = encodeMeta(messages.map(({ headers }) => headers));
    return {
      queue: this.#definition.name,
      version: this.#definition.settings.version,
      payload,
      bytes: messages.reduce((sum, { bytes }) => sum + bytes + 1, 1),
      messageCount: messages.length,
      priority: stowage.priority,
      ...(meta === undefined ? {} : { meta }),
      ...(stowage.delayMs === undefined ? {} : { delayMs: stowage.delayMs }),
      ...(stowage.runAt === undefined ? {} : { runAt: stowage.runAt }),
      ...(stowage.maxAttempts === undefined ? {} : { maxAttempts: stowage.maxAttempts }),
      ...(stowage.staleAfterMs === undefined ? {} : { staleAfterMs: stowage.staleAfterMs }),
      ...(stowage.chain === undefined ? {} : { chain: stowage.chain }),
    };
  }
}
