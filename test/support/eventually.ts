/** Waits on a condition by looking again and again. Only where no event exists to wait on. */
import { setTimeout as sleep } from "node:timers/promises";

/** Settings of {@link eventually}. */
export interface EventuallyOptions {
  /** A guard against waiting for ever, far beyond what a busy machine takes; never the measure of anything. Default 30,000. */
  readonly timeoutMs?: number;
  /** Time between two looks. Default 10. */
  readonly everyMs?: number;
  /** The error's text when time is up: what was waited for, and how things stand. */
  readonly otherwise?: string | (() => string | Promise<string>);
}

/** Resolves once the predicate holds; throws when it does not within the time. Errors of the predicate are not swallowed. */
export async function eventually(
  predicate: () => boolean | Promise<boolean>,
  { timeoutMs = 30_000, everyMs = 10, otherwise = "the condition never held" }: EventuallyOptions = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await predicate())) {
    if (performance.now() > deadline) {
      const text = typeof otherwise === "string" ? otherwise : await otherwise();
      throw new Error(`after ${timeoutMs} ms: ${text}`);
    }
    await sleep(everyMs);
  }
}
