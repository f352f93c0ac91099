/** What an operator's call may ask for; the same answer on every backend to what makes no sense. */
import { PostriderError } from "../errors.js";

const statuses: readonly unknown[] = ["pending", "delayed", "processing"];
const reasonsOfDeath: readonly unknown[] = ["attempts", "crash", "schema", "decode", "rejected"];
/** PostgreSQL's bigint. */
const largestId = 2n ** 63n - 1n;

/** Options of the calls on `mq.inspect` that choose what is shown or moved. */
export interface Chosen {
  readonly status?: unknown;
  readonly limit?: unknown;
  readonly reasons?: readonly unknown[];
  readonly deadIds?: readonly unknown[];
  readonly afterDeadId?: unknown;
}

/** @throws PostriderError `ERR_CLIENT_OPTIONS` that shows the option, the value and what is allowed */
export function assertChosen(queue: string, { status, limit, reasons = [], deadIds = [], afterDeadId }: Chosen): void {
  if (status !== undefined && !statuses.includes(status)) throw notOneOf(queue, "status", statuses, status);
  if (limit !== undefined && !(Number.isSafeInteger(limit) && (limit as number) >= 0)) {
    throw badOption(queue, `limit must be a whole number of at least 0, found ${shown(limit)}`);
  }
  for (const reason of reasons) {
    if (!reasonsOfDeath.includes(reason)) throw notOneOf(queue, "reasons", reasonsOfDeath, reason);
  }
  for (const id of deadIds) assertId(queue, "deadIds", id);
  if (afterDeadId !== undefined) assertId(queue, "afterDeadId", afterDeadId);
}

/** @throws PostriderError `ERR_CLIENT_OPTIONS` for what cannot be an id of a batch or a dead letter */
export function assertId(queue: string, option: string, id: unknown): void {
  if (isId(id)) return;
  throw badOption(queue, `${option}: expected an id, a whole number as text, found ${shown(id)}`);
}

/** Whether the database could have given it. */
export function isId(id: unknown): id is string {
  return typeof id === "string" && /^\d{1,19}$/.test(id) && BigInt(id) <= largestId;
}

function notOneOf(queue: string, option: string, allowed: readonly unknown[], value: unknown): PostriderError {
  const list = allowed.map((one) => `"${one}"`).join(", ");
  return badOption(queue, `${option} must be one of ${list}, found ${shown(value)}`);
}

function badOption(queue: string, message: string): PostriderError {
  return new PostriderError("ERR_CLIENT_OPTIONS", `queue "${queue}": ${message}`, { details: { queue } });
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : String(value);
}
