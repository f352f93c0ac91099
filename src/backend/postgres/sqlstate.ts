/** PostgreSQL's error codes, translated in one place. */
import { PostriderError } from "../../errors.js";

// Classes that pass by themselves: 08 connection, 40 rollback, 53 resources, 55 not in the right state, 57 intervention.
const passingClasses = new Set(["08", "40", "53", "55", "57"]);

// 25006: a write reached a standby; after the failover it will reach the primary.
const passingCodes = new Set(["25006"]);

/** The five characters of a server error; undefined for what did not come from the server. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** A statement that was never sent: no connection could be had for it. Its cause says why. */
export class NotConnected extends Error {
  override readonly name = "NotConnected";

  constructor(cause: unknown) {
    super(`no connection to the database: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Whether the same statement may succeed later. What has no SQLSTATE is a connection that could not be had or died. */
export function isPassing(error: unknown): boolean {
  if (error instanceof NotConnected) return isPassing(error.cause);
  // No address, a bad option, a fault of our own: trying again changes nothing.
  if (error instanceof PostriderError || error instanceof TypeError || error instanceof RangeError) return false;
  const state = sqlStateOf(error);
  return state === undefined || passingClasses.has(state.slice(0, 2)) || passingCodes.has(state);
}

/** Whether the whole transaction may succeed when run again. ORMs wrap the database's error, so that it may be a cause. */
export function isSerializationFailure(error: unknown): boolean {
  for (let inner = error, depth = 0; inner instanceof Error && depth < 5; inner = inner.cause, depth += 1) {
    const state = sqlStateOf(inner);
    if (state === "40001" || state === "40P01") return true;
  }
  return false;
}

/** Whether a statement that failed like this may have been carried out all the same: its connection died unanswered. */
export function isUnanswered(error: unknown): boolean {
  if (error instanceof NotConnected || !isPassing(error)) return false;
  const state = sqlStateOf(error);
  return state === undefined || state.startsWith("08");
}

/** Whether the connection that failed like this is of no more use: nobody answered, or the server's answer was its last. */
export function endsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === undefined || state.startsWith("08") || state.startsWith("57P")) return true;
  const { severity } = error as { severity?: string };
  return severity === "FATAL" || severity === "PANIC";
}
