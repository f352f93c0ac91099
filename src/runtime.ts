/** What a client offers besides the typed functions of its queues. */
import type { Subscribe } from "./deliver/handler.js";

import type { Pull } from "./deliver/pulled.js";
import type { Hooks } from "./hooks.js";
import type { Inspection } from "./inspect/inspection.js";
import type { WhichBatch } from "./inspect/queue-upkeep.js";

import type { EventName, Events } from "./instrument.js";

import type { ProgressAccess } from "./progress/progress-access.js";
import type { ChainStep, PublishedChain, Publisher } from "./publish/publisher.js";
import type { SqlExecutor } from "./transaction/executors.js";
import type { RunOptions } from "./transaction/retry.js";

/** Untyped access to one queue by name, for queues known only at run time. Messages are validated all the same. */
export interface QueueAccess {
  readonly name: string;
  readonly publish: Publisher<unknown>;
  readonly listen: Subscribe<unknown>;
  /** Hands out batches to settle by hand, in place of a handler. */
  readonly pull: Pull<unknown>;
  /** Batches that wait, are delayed and are in flight; each is counted up to 10,000. */
  size(): Promise<QueueSize>;
  /** Deletes what waits, delayed batches included, not what is in flight; how many batches. */
  clear(): Promise<number>;
  /**
   * Deletes one waiting batch, by its id or by the key it holds (`unique`); false when it is in flight or gone. A key is the value
   * at the pointer of `unique.by`, or where that names several, the array of their values.
   * @throws PostriderError `ERR_UNIQUE_KEY` where the queue has no `unique`, or the key not as many values as that has pointers;
   * `ERR_CLIENT_OPTIONS` for no id
   */
  cancel(which: WhichBatch): Promise<boolean>;
}

/** How many batches of a queue are where. */
export interface QueueSize {
  readonly pending: number;
  readonly delayed: number;
  readonly processing: number;
}

/** The state of a client at a glance. */
export interface Health {
  /** The client is started and its last round of polling succeeded. */
  readonly ok: boolean;
  /** Whether notifications are proved to arrive; without them messages are found by polling. */
  readonly listener: "up" | "down" | "not started";
  /** When the last round succeeded, by this node's clock. */
  readonly lastRoundAt?: Date;
  /** Queues this node no longer claims because their last 100 batches all died of `schema`; absent when there is none. */
  readonly refused?: readonly string[];
  /** Messages waiting to be written. */
  readonly bufferDepth: number;
  /** Age of the oldest batch in a handler, in ms. */
  readonly oldestInFlightMs?: number;
}

export interface StopOptions {
  /** How long running handlers may take before they are aborted. Default 30,000. */
  readonly timeoutMs?: number;
}

/** A client as `createRuntime` makes it. The generated client adds `publishTo` and the `on…` functions with their types. */
export interface Runtime {
  /** One publisher per queue, by identifier. */
  readonly publishTo: object;
  /**
   * Makes this process a node that delivers. Resolves when it does; waits for a database that is away.
   * @throws PostriderError `ERR_NOT_MIGRATED`, `ERR_DATABASE_NEWER`, `ERR_NO_DATABASE`
   */
  start(): Promise<void>;
  /** Takes no new work, lets handlers end, writes the publish buffer, closes everything. Safe twice and without `start`. */
  stop(options?: StopOptions): Promise<void>;
  /** Stops on SIGTERM and SIGINT; a second one releases running batches at once. Returns a function that undoes it. */
  stopOnSignals(options?: StopOptions): () => void;
  /** What the application does when this client starts and stops. A hook that fails is logged, and the rest run. */
  readonly hooks: Hooks;
  /**
   * Runs the body in a transaction. Everything published in it, also by functions it calls, is stored by this very
   * transaction. Inside another one it is a savepoint, and the options are the outermost one's.
   *
   * Options: `isolation` (default: the database's own, usually read committed), `readOnly` (publishing in it fails at the
   * commit), `retries` (default 0: a serialization failure is the caller's to handle).
   * @throws PostriderError `ERR_TRANSACTION_OVER` for a statement that comes after its end; whatever the body throws
   */
  transaction<T>(body: (tx: SqlExecutor) => Promise<T> | T, options?: RunOptions): Promise<T>;
  /** Runs `hook` after the outermost commit; false outside a transaction, and then it is not called. */
  afterCommit(hook: () => unknown): boolean;
  /** One Map for the current transaction and all nested in it; undefined outside. */
  transactionState(): Map<unknown, unknown> | undefined;
  /** Writes everything buffered now, and waits for the wake-ups too. */
  flush(): Promise<void>;
  /** @throws PostriderError `ERR_QUEUE_UNDECLARED`, with near names */
  queue(name: string): QueueAccess;
  /**
   * Stores a chain: its first step now, each further one by the statement that acknowledges the step before, so that a crash
   * neither loses nor doubles it. Joins a transaction as publishing does; `tx` is the caller's own.
   * @throws PostriderError `ERR_CHAIN`, and as publishing does
   */
  chain(steps: readonly ChainStep[], options?: { readonly tx?: SqlExecutor }): Promise<PublishedChain>;
  readonly inspect: Inspection;
  readonly progress: ProgressAccess;
  /** Time of the last publish or handler end on this node, by its clock. */
  lastActivity(queue: string): Date | undefined;
  health(): Health;
  /** The metrics in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Subscribes to what happens; the returned function ends it. */
  on<Name extends EventName>(event: Name, subscriber: (event: Events[Name]) => void): () => void;
}
