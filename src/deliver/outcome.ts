/** What the end of a handler means for its batch: one clause per outcome. */
import { DeadLetter, RetryLater } from "../errors.js";

export type Outcome =
  | { readonly kind: "ack" }
  /** Written already, by the transaction of the call itself: `said` (D9). */
  | { readonly kind: "settled"; readonly said: Outcome }
  /** Counted; waits `delayMs`, or the queue's back-off. */
  | { readonly kind: "retry"; readonly error: unknown; readonly delayMs?: number }
  | PartialOutcome
  /** Not counted, and not the handler's wish either: the node took the batch away from it. */
  | { readonly kind: "release" }
  /** Not counted. */
  | { readonly kind: "postpone"; readonly delayMs: number }
  | { readonly kind: "reject"; readonly error: DeadLetter };

/** By index; the messages that are not named are done. */
export interface PartialOutcome {
  readonly kind: "partial";
  /** Counted. */
  readonly failed: ReadonlyMap<number, unknown>;
  /** Of those, what failed in one call with others: which of them is to blame is not known. */
  readonly together?: ReadonlySet<number>;
  /** Given up at once. */
  readonly rejected: ReadonlyMap<number, DeadLetter>;
  /** Postponed, or not started: they stay, and nothing is counted for them. */
  readonly kept: ReadonlySet<number>;
  readonly delayMs?: number;
}

/** The longest wait a handler may ask for: ten years. */
const maxDelayMs = 315_360_000_000;

/** @param delayMs - what `ctx.retryAfter` asked for */
export function outcomeOfError(error: unknown, delayMs: number | undefined): Outcome {
  if (error instanceof RetryLater) {
    if (isDelay(error.ms)) return { kind: "postpone", delayMs: error.ms };
    return { kind: "retry", error: notADelay("RetryLater", error.ms) };
  }
  if (error instanceof DeadLetter) return { kind: "reject", error };
  return { kind: "retry", error, ...(delayMs === undefined ? {} : { delayMs }) };
}

/** A batch handler may answer `{ failed: [indexes] }`; any other result is success. */
export function outcomeOfResult(result: unknown, messageCount: number, delayMs: number | undefined): Outcome {
  const failed = (result as { failed?: unknown } | null | undefined)?.failed;
  if (!Array.isArray(failed) || failed.length === 0) return { kind: "ack" };
  const errors = new Map<number, unknown>();
  for (const index of failed) {
    if (!Number.isInteger(index) || index < 0 || index >= messageCount) {
      const error = new TypeError(`the handler answered failed: [${failed.join(", ")}] for ${messageCount} messages`);
      return { kind: "retry", error };
    }
    errors.set(index, new Error("the handler reported this message as failed"));
  }
  const rest = { rejected: new Map<number, DeadLetter>(), kept: new Set<number>() };
  return { kind: "partial", failed: errors, ...rest, ...(delayMs === undefined ? {} : { delayMs }) };
}

/** Puts the outcomes of a batch's parts together: of its slices, or of its single messages. */
export class Gathered {
  readonly #failed = new Map<number, unknown>();
  readonly #together = new Set<number>();
  readonly #rejected = new Map<number, DeadLetter>();
  readonly #kept = new Set<number>();
  #retryMs: number | undefined;
  #postponeMs: number | undefined;

  /** The outcome of the messages from index `from` up to, not including, `to`. */
  add(outcome: Outcome, from: number, to: number): void {
    if (outcome.kind === "ack") return;
    if (outcome.kind === "partial") {
      for (const [index, error] of outcome.failed) this.#failed.set(from + index, error);
      this.#retryMs = outcome.delayMs ?? this.#retryMs;
      return;
    }
    if (outcome.kind === "retry") this.#retryMs = outcome.delayMs ?? this.#retryMs;
    if (outcome.kind === "postpone") this.#postponeMs = Math.max(outcome.delayMs, this.#postponeMs ?? 0);
    for (let index = from; index < to; index += 1) {
      if (outcome.kind === "retry" && to - from > 1) this.#together.add(index);
      if (outcome.kind === "retry") this.#failed.set(index, outcome.error);
      else if (outcome.kind === "reject") this.#rejected.set(index, outcome.error);
      else this.#kept.add(index);
    }
  }

  result(messageCount: number): Outcome {
    const [failed, rejected, kept] = [this.#failed, this.#rejected, this.#kept];
    if (failed.size + rejected.size + kept.size === 0) return { kind: "ack" };
    const postponeMs = this.#postponeMs;
    if (kept.size === messageCount) {
      return postponeMs === undefined ? { kind: "release" } : { kind: "postpone", delayMs: postponeMs };
    }
    const delayMs = failed.size > 0 ? this.#retryMs : postponeMs;
    return {
      kind: "partial",
      failed,
      together: this.#together,
      rejected,
      kept,
      ...(delayMs === undefined ? {} : { delayMs }),
    };
  }
}

/** What is left of an outcome when the node itself made the handler fail, by aborting its signal: nothing is counted (R6). */
export function excused(outcome: Outcome): Outcome {
  if (outcome.kind === "retry") return { kind: "release" };
  if (outcome.kind !== "partial") return outcome;
  const { delayMs: _, ...rest } = outcome;
  return { ...rest, failed: new Map(), kept: new Set([...outcome.kept, ...outcome.failed.keys()]) };
}

/** The outcome without what was given up and is in the dead letters already. */
export function withoutBuried(outcome: Outcome, buried: ReadonlySet<number>): Outcome {
  if (outcome.kind !== "partial" || buried.size === 0) return outcome;
  return { ...outcome, rejected: new Map([...outcome.rejected].filter(([index]) => !buried.has(index))) };
}

/** @throws TypeError */
export function checkDelay(what: string, ms: unknown): asserts ms is number {
  if (!isDelay(ms)) throw notADelay(what, ms);
}

function isDelay(ms: unknown): boolean {
  return typeof ms === "number" && ms >= 0 && ms <= maxDelayMs;
}

function notADelay(what: string, ms: unknown): TypeError {
  return new TypeError(`${what} takes milliseconds from 0 to ${maxDelayMs}, found ${String(ms)}`);
}

/** Causes shown below an error; a chain may be a circle. */
const maxCauses = 8;

/** The text kept with a failed batch: the stack, with its causes. Anything can be thrown, so nothing here may throw. */
export function errorText(error: unknown, causes = maxCauses): string {
  try {
    if (!(error instanceof Error)) return `thrown: ${String(error)}`;
    const text = String(error.stack ?? `${error.name}: ${error.message}`);
    return error.cause === undefined || causes === 0
      ? text
      : `${text}\ncaused by: ${errorText(error.cause, causes - 1)}`;
  } catch {
    return "thrown: a value that cannot be shown";
  }
}
