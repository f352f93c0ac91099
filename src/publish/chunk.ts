/** Messages of one queue into batches within the queue's bounds, in order (P11). */
import type { NewBatch, UniqueKey } from "../batch/batch.js";
import type { OutgoingMessage } from "../batch/outgoing.js";
import { encodeMeta, encodePayload } from "../batch/payload.js";
import type { QueueDefinition } from "../queue/queue.js";

interface Chunk {
  readonly index: number;
  readonly messages: OutgoingMessage[];
  bytes: number;
}

/**
 * Takes messages one by one; a message that does not fit the last batch opens the next. With `orderBy` that is the last
 * batch of its key, so that interleaved keys fill batches too.
 */
export class Chunker {
  readonly #definition: QueueDefinition;
  readonly #maxMessages: number;
  readonly #chunks: Chunk[] = [];
  readonly #lastOf = new Map<string | undefined, Chunk>();
  #bytes = 0;

  constructor(definition: QueueDefinition) {
    this.#definition = definition;
    const { maxBatchMessages, rate } = definition.settings;
    // What is larger than the limit could never be handed out within it.
    this.#maxMessages = Math.min(maxBatchMessages, rate?.limit ?? maxBatchMessages);
  }

  /** The index of the batch the message went into. */
  add(message: OutgoingMessage): number {
    const last = this.#lastOf.get(message.orderKey);
    if (last !== undefined && this.#fits(last, message)) {
      last.messages.push(message);
      last.bytes += 1 + message.bytes;
      this.#bytes += 1 + message.bytes;
      return last.index;
    }
    const chunk = { index: this.#chunks.length, messages: [message], bytes: 2 + message.bytes };
    this.#chunks.push(chunk);
    this.#lastOf.set(message.orderKey, chunk);
    this.#bytes += chunk.bytes;
    return chunk.index;
  }

  get rows(): number {
    return this.#chunks.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  batches(): readonly NewBatch[] {
    return this.#chunks.map(({ messages }) => this.#batch(messages));
  }

  #fits({ messages, bytes }: Chunk, message: OutgoingMessage): boolean {
    const [first] = messages;
    if (first === undefined || first.stowage.alone || message.stowage.alone) return false;
    if (first.stowage.key !== message.stowage.key) return false;
    // Of one key there is one message at most: a second is a conflict, which is the backend's to settle.
    if (first.uniqueKey !== undefined || message.uniqueKey !== undefined) return false;
    return messages.length < this.#maxMessages && bytes + 1 + message.bytes <= this.#definition.settings.maxBatchBytes;
  }

  #batch(messages: readonly OutgoingMessage[]): NewBatch {
    const { stowage, orderKey, uniqueKey } = messages[0] as OutgoingMessage;
    const payload = encodePayload(messages);
    const meta = encodeMeta(messages.map(({ headers }) => headers));
    // A chain's step has none: it would be lost, and the chain with it, where the key is taken.
    const unique = stowage.chain === undefined ? this.#uniqueOf(uniqueKey) : undefined;
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
      ...(orderKey === undefined ? {} : { orderKey }),
      ...(unique === undefined ? {} : { unique }),
    };
  }

  #uniqueOf(key: string | undefined): UniqueKey | undefined {
    const { unique } = this.#definition.settings;
    if (key === undefined || unique === undefined) return undefined;
    return { key, whileRunning: unique.whileIn.includes("processing"), onConflict: unique.onConflict };
  }
}
