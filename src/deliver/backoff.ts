/** The wait before the next attempt. */
import type { Backoff } from "../queue/queue.js";

/**
 * `initialMs * factor^(failures - 1)`, at most `maxMs`, spread by `jitter` to both sides and never negative.
 *
 * @param failures - failures so far, the one that just happened included
 * @param random - 0 to 1; for tests
 */
export function backoffMs(
  { initialMs, factor, maxMs, jitter }: Backoff,
  failures: number,
  random = Math.random(),
): number {
  const plain = Math.min(maxMs, initialMs * factor ** (failures - 1));
  return Math.round(plain * (1 + jitter * (2 * random - 1)));
}
