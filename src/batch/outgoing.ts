/** A message on its way into a batch. */
import type { EncodedMessage, Headers } from "./payload.js";

/** The options that decide which messages may share a batch. */
export interface Stowage {
  readonly priority: number;
  readonly delayMs?: number;
  readonly runAt?: Date;
  readonly maxAttempts?: number;
  readonly staleAfterMs?: number;
  readonly alone: boolean;
  /** Of a chain's step: the chain's state. */
  readonly chain?: string;
  /** Equal for messages that may share a batch. */
  readonly key: string;
}

export interface OutgoingMessage extends EncodedMessage {
  readonly stowage: Stowage;
  readonly headers?: Headers;
  /** Equal for messages that are repeats of each other; absent where the queue has no such rule or a key is missing. */
  readonly dedupKey?: string;
  /** Where the queue has `unique`, unless a value is missing. */
  readonly uniqueKey?: string;
  /** Where the queue has `orderBy`, unless the value is missing. */
  readonly orderKey?: string;
}
