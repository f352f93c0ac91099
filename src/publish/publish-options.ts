/** What a caller that no compiler has checked may have given for options. */
import { unknownKey } from "../queue/unknown-key.js";
import type { PublishOptions } from "./publisher.js";

const known: ReadonlySet<string> = new Set(
  Object.keys({
    delayMs: true,
    runAt: true,
    priority: true,
    tx: true,
    headers: true,
    alone: true,
    maxAttempts: true,
    staleAfterMs: true,
    timeoutMs: true,
    signal: true,
  } satisfies Record<keyof PublishOptions, true>),
);

/** What is wrong with their shape; undefined where nothing is. Numbers and times are checked where they are used. */
export function misshapen(options: PublishOptions): string | undefined {
  if (typeof options !== "object" || options === null) return `expected an object of options, found ${String(options)}`;
  const { headers, alone, signal } = options as Record<keyof PublishOptions, unknown>;
  if (alone !== undefined && typeof alone !== "boolean") return `alone must be true or false, found ${String(alone)}`;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    return `signal must be an AbortSignal, found ${String(signal)}`;
  }
  return misshapenHeaders(headers) ?? unknownKey(options, known);
}

function misshapenHeaders(headers: unknown): string | undefined {
  if (headers === undefined) return undefined;
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    return `headers must be an object of texts, found ${String(headers)}`;
  }
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string") return `headers must be texts; "${name}" is ${String(value)}, a ${typeof value}`;
  }
  return undefined;
}
