/** What is compared: a way to publish orders and to have them handled. One adapter each, run in processes of their own. */
import type { OrderPlaced } from "../../generated/index.js";

/** The schema of a postrider that notifies nobody, made by `silent-schema.ts`. */
export const silentSchema = "silent";

export interface SystemOptions {
  readonly connectionString: string;
  /** Every queue of the scenario. */
  readonly queues: readonly string[];
  /** Whether consumers are to be woken, for systems where that is a choice that costs publishers something. */
  readonly wake: boolean;
  /** Each queue's messages one at a time, whatever the number of processes. */
  readonly exclusive?: boolean;
  /** Settings only the product has; the others are tuned as their documentation advises, in their own file. */
  readonly tuning?: Tuning;
}

export interface Tuning {
  readonly maxBatchMessages?: number;
  /** Handler calls at once, in this process. */
  readonly concurrency?: number;
  readonly pollMs?: number;
  readonly poolSize?: number;
  readonly heartbeatMs?: number;
  readonly orphanAfterMs?: number;
  /** Notifications switched off, the asking too; needs `silent-schema.ts`. */
  readonly silent?: boolean;
  /** Every publish is written by its own call. */
  readonly unbuffered?: boolean;
}

export interface System {
  /** Resolves when the message is committed. */
  publish(queue: string, message: OrderPlaced): Promise<unknown>;
  publishMany(queue: string, messages: readonly OrderPlaced[]): Promise<unknown>;
  /** Delivers from these queues until `stop`; resolves when it has begun. */
  consume(queues: readonly string[], handle: (messages: readonly OrderPlaced[]) => unknown): Promise<void>;
  stop(): Promise<void>;
}

/** What a file in this folder or in `peers/` exports as `adapter`. */
export interface Adapter {
  /** Makes tables and queues, once per database. */
  prepare(options: SystemOptions): Promise<void>;
  open(options: SystemOptions): Promise<System>;
}
