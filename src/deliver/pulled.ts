/** What a pull hands out: batches whose caller settles them by hand (J1). The generated client names the message types. */
import type { Headers } from "../batch/payload.js";

/** A batch in the caller's hands: leased, kept by heartbeats, and recovered when its process dies. */
export interface PulledBatch<Message> {
  readonly queue: string;
  readonly batchId: string;
  readonly messages: readonly Message[];
  /** One per message, as in `ctx.ids`. */
  readonly ids: readonly string[];
  readonly headers: readonly Headers[];
  readonly publishedAt: Date;
  /** This delivery's number, counted from 1. */
  readonly attempt: number;
  /** Aborted when the batch is lost to another node, or about to be, and when the client has stopped. */
  readonly signal: AbortSignal;
  /** As `ctx.progress` of a handler. */
  progress(percent: number, stage?: string): Promise<boolean>;
  /** Done: deletes it. False when it was lost, and then nothing was changed. */
  ack(): Promise<boolean>;
  /** Gives it back unfinished, with no attempt spent; not before `delayMs`, 0 by default. False as above. */
  release(options?: { readonly delayMs?: number }): Promise<boolean>;
  /** A failure, as when a handler throws: back-off, or the dead letters; `RetryLater` and `DeadLetter` as there. False as above. */
  fail(error: unknown): Promise<boolean>;
}

/** `pull` of a queue. */
export interface Pull<Message> {
  /**
   * Claims up to `limit` batches, 1 by default, at most 1,000; none when nothing waits. Does not wait for work. A client that has
   * not started can pull too; a batch of a process that dies is then recovered as stale, after `staleAfterMs`.
   * @throws PostriderError `ERR_CLIENT_OPTIONS`, `ERR_CLIENT_STOPPED`
   */
  (options?: { readonly limit?: number }): Promise<readonly PulledBatch<Message>[]>;
  /**
   * Acknowledges several batches in one statement; those that were still the caller's.
   * @throws PostriderError `ERR_FOREIGN_BATCH` for one that this client has not handed out, and then none is acknowledged
   */
  ack(batches: readonly PulledBatch<Message>[]): Promise<readonly PulledBatch<Message>[]>;
}
