/** Transactions that are run again when the database could not put them in order with others. */
import type { TransactionOptions } from "../backend/backend.js";
import { PostriderError } from "../errors.js";
import { doublingMs, pause } from "../time.js";

/** How `mq.transaction` runs. All of it is about the outermost transaction; a savepoint in it takes no options. */
export interface RunOptions extends TransactionOptions {
  /**
   * How many times the body is run again after a serialization failure or a deadlock (SQLSTATE 40001, 40P01), from 0 to
   * 100, with growing pauses of 10 ms to 1 s. Default 0. Each run begins with nothing collected, no hooks and an empty
   * state; what the body does outside the database is done again.
   */
  readonly retries?: number;
}

/** @param mayRetry - whether the error says that the same transaction may succeed when run again */
export async function withRetries<T>(
  { retries = 0 }: RunOptions,
  mayRetry: (error: unknown) => boolean,
  run: () => Promise<T>,
): Promise<T> {
  if (!Number.isInteger(retries) || retries < 0 || retries > 100) {
    const message = `retries of a transaction must be a whole number from 0 to 100, found ${String(retries)}`;
    throw new PostriderError("ERR_CLIENT_OPTIONS", message);
  }
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= retries || !mayRetry(error)) throw error;
    }
    await pause(doublingMs(attempt, 10, 1_000));
  }
}
