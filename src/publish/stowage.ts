/** The options a message goes with, checked. */
import type { Stowage } from "../batch/outgoing.js";
import { PostriderError } from "../errors.js";
import { misshapen } from "./publish-options.js";
import type { PublishOptions } from "./publisher.js";

/** Where nothing is said. Shared, so that the usual publish makes no object. */
export const plainStowage: Stowage = Object.freeze({ priority: 100, alone: false, key: "" });

const int32 = 2_147_483_647;
const yearMs = 31_536_000_000;

/** @throws PostriderError `ERR_PUBLISH_OPTIONS` */
export function stowageOf(queue: string, options: PublishOptions | undefined): Stowage {
  if (options === undefined) return plainStowage;
  const wrong = misshapen(options);
  if (wrong !== undefined) throw badOption(queue, wrong);
  const { priority = 100, delayMs, runAt, maxAttempts, staleAfterMs, alone = false } = options;
  const check = (option: string, value: number | undefined, min: number, max: number) => {
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return;
    throw badOption(queue, `${option} must be a whole number from ${min} to ${max}, found ${String(value)}`);
  };
  check("priority", priority, -int32, int32);
  check("delayMs", delayMs, 0, yearMs * 10);
  check("maxAttempts", maxAttempts, 1, 1_000);
  check("staleAfterMs", staleAfterMs, 100, yearMs);
  check("timeoutMs", options.timeoutMs, 1, int32);
  if (delayMs !== undefined && runAt !== undefined) throw badOption(queue, "delayMs and runAt exclude each other");
  if (runAt !== undefined && !Number.isFinite(runAt.getTime?.())) {
    throw badOption(queue, `runAt must be a valid Date, found ${String(runAt)}`);
  }
  const key = JSON.stringify([priority, delayMs, runAt, maxAttempts, staleAfterMs]);
  return {
    priority,
    alone,
    key: key === plainKey ? "" : key,
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(runAt === undefined ? {} : { runAt }),
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(staleAfterMs === undefined ? {} : { staleAfterMs }),
  };
}

const plainKey = JSON.stringify([100, undefined, undefined, undefined, undefined]);

export function badOption(queue: string, message: string): PostriderError {
  return new PostriderError("ERR_PUBLISH_OPTIONS", `publishing to "${queue}": ${message}`, { details: { queue } });
}

export function isDelayed({ delayMs, runAt }: Stowage): boolean {
  return runAt !== undefined || (delayMs !== undefined && delayMs > 0);
}
