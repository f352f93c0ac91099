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

/** Whether the same statement may succeed later. What has no SQLSTATE is a connection that could not be had or died. */
export function isPassing(error: unknown): boolean {
  // No address, a bad option, a fault of our own: trying again changes nothing.
  if (error instanceof PostriderError || error instanceof TypeError || error instanceof RangeError) return false;
  const state = sqlStateOf(error);
  return state === undefined || passingClasses.has(state.slice(0, 2)) || passingCodes.has(state);
}

/** Whether a statement that failed like this may have been carried out all the same: its connection died unanswered. */
export function isUnanswered(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== undefined) return state.startsWith("08");
  const { syscall, message } = error as { syscall?: string; message?: string };
  // A connection that was never had carried nothing out. The pool's own time-out has no code, only this text.
  return (
    syscall !== "connect" &&
    syscall !== "getaddrinfo" &&
    !message?.startsWith("timeout exceeded when trying to connect")
  );
}
