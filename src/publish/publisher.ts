/** What a publishing function looks like to the code that calls it. The generated client names the message types. */
import type { SqlExecutor } from "../transaction/executors.js";

/** Per-publish options; everything not given comes from the queue's settings. */
export interface PublishOptions {
  /** Not delivered before this many milliseconds after the insert, by the database's clock. Not together with `runAt`. */
  readonly delayMs?: number;
  /** Not delivered before this time of the database's clock. */
  readonly runAt?: Date;
  /** Smaller is delivered first. Default 100. */
  readonly priority?: number;
  /** The caller's own transaction: the row is written through it at once, its commit decides (T6). */
  readonly tx?: SqlExecutor;
  /** String metadata that travels beside the message. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A batch of its own, whose id stands for this message in progress, peek and cancel. */
  readonly alone?: boolean;
  /** Deliveries before the dead letters, instead of the queue's `maxAttempts`. */
  readonly maxAttempts?: number;
  /** Instead of the queue's `staleAfterMs`. */
  readonly staleAfterMs?: number;
  /** Rejects with `ERR_PUBLISH_TIMEOUT` when the message still waits in the buffer after this long. */
  readonly timeoutMs?: number;
  /** Withdraws the message while it still waits in the buffer. */
  readonly signal?: AbortSignal;
}

/** Options of a chain's step. `delayMs` counts from the end of the step before. */
export type StepOptions = Pick<PublishOptions, "delayMs" | "priority" | "headers" | "maxAttempts" | "staleAfterMs">;

/** A message that waits for its turn in a chain. */
export interface ChainStep {
  readonly queue: string;
}

/** A chain that was stored. */
export interface PublishedChain {
  /** Its progress is kept under `chain:<chainId>`. */
  readonly chainId: string;
  /** The first step's batch; "" inside a transaction. */
  readonly batchId: string;
}

/** Where a message was stored. */
export interface Published {
  /**
   * The stored batch; several messages may share it. Where the message was skipped because its key is taken (`unique`), the
   * batch that holds the key. Inside a transaction it is known only after the commit: "".
   */
  readonly batchId: string;
}

/** Where many messages were stored. */
export interface PublishedMany {
  /** Messages stored; those that dedup dropped, and those whose key is taken, are not among them. */
  readonly stored: number;
  /** The batches as in {@link Published}, in order; empty inside a transaction, where they are known only after the commit. */
  readonly batchIds: readonly string[];
}

/** `publishTo.<queue>`: publishes one message; `many` and `collect` publish several together. */
export interface Publisher<Message> {
  /**
   * Resolves when the message is committed; inside `transaction`, when it is collected.
   * @throws PostriderError `ERR_MESSAGE_INVALID`, `ERR_MESSAGE_NOT_SERIALIZABLE`, `ERR_MESSAGE_TOO_LARGE` before any SQL;
   * `ERR_BUFFER_DROPPED` when the write failed for good; `ERR_PUBLISH_TIMEOUT`.
   */
  (message: Message, options?: PublishOptions): Promise<Published>;
  /**
   * All or nothing, up to 10,000 messages or 32 MiB, order kept. An async iterable has no such bound: it is stored in
   * chunks of up to 1,000 messages, with flat memory; when it fails, the error's `details.stored` says how many were.
   * @throws PostriderError as for one message, and `ERR_TOO_MANY`.
   */
  many(messages: Iterable<Message> | AsyncIterable<Message>, options?: PublishOptions): Promise<PublishedMany>;
  /**
   * A step of a chain, for `mq.chain`. Encoded and checked now.
   * @throws PostriderError as for one message
   */
  step(message: Message, options?: StepOptions): ChainStep;
  /**
   * Publishes what the body put, in order, if the body succeeds; nothing if it throws. Returns the body's result. `put` throws
   * `ERR_COLLECT_OVER` once the body has ended: await everything in it.
   */
  collect<Result>(
    body: (put: (message: Message) => void) => Result | Promise<Result>,
    options?: PublishOptions,
  ): Promise<Result>;
}
