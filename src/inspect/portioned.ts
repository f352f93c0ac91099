/** Work on many dead letters, portion by portion: at a rate, with progress, stoppable, with flat memory. */
import type { DeadFilter, Inspector } from "../backend/inspector.js";
import { PostriderError } from "../errors.js";
import { monotonicMs, pause } from "../time.js";
import { assertChosen } from "./inspect-options.js";

/** Letters of one statement. */
const portionLetters = 500;

/** How to go about it. */
export interface PortionedOptions {
  /** At most this many letters. Default: all there are when it begins. */
  readonly limit?: number;
  /** At most this many letters a second. Default: as fast as it goes. */
  readonly ratePerSecond?: number;
  /** Stops after the portion under way. */
  readonly signal?: AbortSignal;
  /** Told after each portion. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

export interface PortionedResult {
  /** Letters that were put back, or deleted. */
  readonly done: number;
  /** Letters there were when it began, or the limit. */
  readonly total: number;
  /** False: stopped before its end. */
  readonly complete: boolean;
}

type Work = PortionedOptions & { readonly filter: Omit<DeadFilter, "limit"> };

/** @throws PostriderError `ERR_CLIENT_OPTIONS` */
export function portionedWork(queue: string, options: PortionedOptions & Omit<DeadFilter, "limit" | "queue">): Work {
  const { deadIds, reasons, ...how } = options;
  assertChosen(queue, options);
  const { ratePerSecond: rate } = how;
  if (rate !== undefined && !(Number.isFinite(rate) && rate >= 0.001)) {
    const message = `queue "${queue}": ratePerSecond must be a number of at least 0.001, found ${String(rate)}`;
    throw new PostriderError("ERR_CLIENT_OPTIONS", message, { details: { queue } });
  }
  const filter = {
    queue,
    ...(deadIds === undefined ? {} : { deadIds }),
    ...(reasons === undefined ? {} : { reasons }),
  };
  return { filter, ...how };
}

export async function portioned(
  inspector: Inspector,
  { filter, limit = Number.POSITIVE_INFINITY, ratePerSecond, signal, onProgress }: Work,
  work: (filter: DeadFilter) => Promise<number>,
): Promise<PortionedResult> {
  const total = Math.min(limit, await inspector.countDead(filter));
  const begun = monotonicMs();
  // A tenth of a second's worth at a time: a rate is kept evenly, not in bursts of a portion.
  const size = ratePerSecond === undefined ? portionLetters : Math.max(1, Math.min(portionLetters, ratePerSecond / 10));
  let done = 0;
  while (done < total && !signal?.aborted) {
    const moved = await work({ ...filter, limit: Math.min(Math.floor(size), total - done) });
    // Somebody else was at them too.
    if (moved === 0) return { done, total, complete: true };
    done += moved;
    onProgress?.({ done, total });
    if (ratePerSecond === undefined || done >= total) continue;
    await pause(begun + (1_000 * done) / ratePerSecond - monotonicMs(), signal);
  }
  return { done, total, complete: done >= total };
}
