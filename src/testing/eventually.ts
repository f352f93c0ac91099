/** Waits on a condition by looking again and again (K2). */
import { realMs, realPause } from "./real-time.js";

/** Settings of {@link eventually}. */
export interface EventuallyOptions {
  /** Default 5,000. */
  readonly timeoutMs?: number;
  /** Between two looks. Default 10. */
  readonly everyMs?: number;
}

/**
 * Resolves once the predicate answers true or does not throw an assertion any more; otherwise rejects, when time is up, with
 * what it threw last.
 */
export async function eventually(
  predicate: () => unknown | Promise<unknown>,
  { timeoutMs = 5_000, everyMs = 10 }: EventuallyOptions = {},
): Promise<void> {
  const deadline = realMs() + timeoutMs;
  for (;;) {
    let reason: unknown;
    try {
      // A body of assertions answers nothing.
      if ((await predicate()) !== false) return;
      reason = new Error("the condition never held");
    } catch (error) {
      reason = error;
    }
    if (realMs() > deadline) throw new Error(`after ${timeoutMs} ms: ${textOf(reason)}`, { cause: reason });
    await realPause(everyMs);
  }
}

function textOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
