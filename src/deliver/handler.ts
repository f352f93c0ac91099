/** What a handler is given and may answer. The generated client names the message types. */
import type { Logger } from "../instrument.js";
import type { SqlExecutor } from "../transaction/executors.js";

/** What both kinds of handler are told about the call. */
interface CallContext {
  readonly queue: string;
  /** This delivery's number, counted from 1: failures + 1. */
  readonly attempt: number;
  /** The stored batches of this call. */
  readonly batchIds: readonly string[];
  /** Aborted on shutdown past its limit, on timeout, or when the batch is no longer ours. */
  readonly signal: AbortSignal;
  /** The wait before the next attempt, should this call fail; the failure counts (D5). */
  retryAfter(ms: number): void;
  /**
   * Records how far the call has come, 0 to 100, and what it is at, under its batch's id, or, of a chain's step, as the share of
   * the whole chain under `chain:<id>`. False when the batch was lost: then nothing was written.
   * @throws TypeError for what is no number
   */
  progress(percent: number, stage?: string): Promise<boolean>;
  readonly log: Logger;
  /**
   * Only of an `atomic` listener: the transaction of this call. What is written through it, everything published meanwhile and
   * the removal of the call's batches commit together, or not at all.
   */
  readonly tx?: SqlExecutor;
}

/** The context of a handler that takes a batch: one id, header map and time per message. */
export interface BatchContext extends CallContext {
  readonly ids: readonly string[];
  readonly headers: readonly Readonly<Record<string, string>>[];
  readonly publishedAt: readonly Date[];
}

/** The context of a handler that takes one message. */
export interface MessageContext extends CallContext {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly publishedAt: Date;
}

/** Handles up to `maxBatchMessages` messages. A throw fails them all; `{ failed }` names the indexes to retry. */
export type BatchHandler<Message> = (messages: readonly Message[], context: BatchContext) => unknown | Promise<unknown>;

/** Handles one message. Only what failed is retried. */
export type MessageHandler<Message> = (message: Message, context: MessageContext) => unknown | Promise<unknown>;

/** Per-listener options. */
export interface ListenOptions {
  /** Handler calls at once on this node, instead of the queue's `concurrency`. */
  readonly concurrency?: number;
  /**
   * Each call is one transaction, `ctx.tx` (D9). A throw rolls all of it back; with `each` every message has a savepoint, and
   * only what failed is undone and retried; messages of a call then run one after another. Each running call takes a
   * connection of the pool. Default false.
   */
  readonly atomic?: boolean;
}

/** A running listener. `stop()` resolves after the running handler; the backlog stays. */
export interface Listener {
  stop(): Promise<void>;
}

/** `on<Queue>`: registers the one handler of this queue in this client. */
export interface Subscribe<Message> {
  /** @throws PostriderError `ERR_LISTENER_EXISTS` when the client already has a listener for the queue. */
  (handler: BatchHandler<Message>, options?: ListenOptions): Listener;
  each(handler: MessageHandler<Message>, options?: ListenOptions): Listener;
}
