/** What the end of a handler means for its batch: one clause per outcome. */
import { DeadLetter, RetryLater } from "../errors.js";

export type Outcome =
  | { readonly kind: "ack" }
  /** Counted; waits `delayMs`, or the queue's back-off. */
  | { readonly kind: "retry"; readonly error: unknown; readonly delayMs?: number }
  /** Some messages only; the others are done. */
  | { readonly kind: "partial"; readonly failed: ReadonlyMap<number, unknown>; readonly delayMs?: number }
  /** Not counted. */
  | { readonly kind: "postpone"; readonly delayMs: number }
  | { readonly kind: "reject"; readonly error: DeadLetter };

/** @param delayMs - what `ctx.retryAfter` asked for */
export function outcomeOfError(error: unknown, delayMs: number | undefined): Outcome {
  if (error instanceof RetryLater) return { kind: "postpone", delayMs: error.ms };
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
  return { kind: "partial", failed: errors, ...(delayMs === undefined ? {} : { delayMs }) };
}

/** The text kept with a failed batch: the stack, with its causes. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${String(error)}`;
  const text = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? text : `${text}\ncaused by: ${errorText(error.cause)}`;
}
