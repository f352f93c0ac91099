/** Database rows to batches and back. 64-bit ids arrive as strings and stay strings. */
import type { Batch, Lease } from "../../batch/batch.js";
import type { Recovery } from "../../instrument.js";
import type { HeartbeatAnswer } from "../backend.js";

/** A row of `claim`, as pg gives it. */
interface ClaimedRow {
  readonly queue_name: string;
  readonly id: string;
  readonly claim_token: string;
  readonly failures: number;
  readonly crashes: number;
  readonly priority: number;
  readonly version: number;
  readonly message_count: number;
  readonly bytes: number;
  readonly payload: string;
  readonly meta: string | null;
  readonly created_at: Date;
  readonly origin_id: string | null;
  readonly origin_at: Date | null;
  readonly positions: number[] | null;
  readonly max_attempts: number;
  readonly call: number;
  readonly chain_id: string | null;
}

/** The rows of a claim. */
export function batchesOf(rows: readonly Record<string, unknown>[]): readonly Batch[] {
  return (rows as unknown as ClaimedRow[])
    .filter(({ id }) => id !== null)
    .map(batchOf)
    .sort(claimOrder);
}

/** When to look again: `due`, or earlier, where a row without an id says that a limited queue has more by then. */
export function dueIn(rows: readonly Record<string, unknown>[], due = Infinity): { readonly dueInMs?: number } {
  const limited = rows.flatMap(({ id, claim_token: ms }) => (id === null && ms !== null ? [Number(ms)] : []));
  const dueInMs = Math.min(due, ...limited);
  return dueInMs === Infinity ? {} : { dueInMs };
}

function batchOf(row: ClaimedRow): Batch {
  return {
    queue: row.queue_name,
    id: row.id,
    token: row.claim_token,
    failures: row.failures,
    crashes: row.crashes,
    priority: row.priority,
    version: row.version,
    messageCount: row.message_count,
    bytes: row.bytes,
    payload: row.payload,
    ...(row.meta === null ? {} : { meta: row.meta }),
    publishedAt: row.origin_at ?? row.created_at,
    maxAttempts: row.max_attempts,
    call: row.call,
    originId: row.origin_id ?? row.id,
    ...(row.positions === null ? {} : { positions: row.positions }),
    ...(row.chain_id === null ? {} : { chainId: row.chain_id }),
  };
}

/** By priority, then oldest first: UPDATE … RETURNING promises no order. Ids of one length compare as text. */
function claimOrder(a: Batch, b: Batch): number {
  return a.priority - b.priority || a.id.length - b.id.length || (a.id < b.id ? -1 : 1);
}

/** The three arrays that name leases in every settling function. */
export function leaseArrays(leases: readonly Lease[]): [string[], string[], string[]] {
  return [leases.map(({ queue }) => queue), leases.map(({ id }) => id), leases.map(({ token }) => token)];
}

/** The rows of `heartbeat`, which both the pool and the LISTEN session ask, by token. */
export function answersOf(rows: readonly Record<string, unknown>[]): ReadonlyMap<string, HeartbeatAnswer> {
  return new Map(rows.map(({ token, answer }) => [token as string, answer as HeartbeatAnswer]));
}

/** What `poll` has to say besides its batches. */
export interface Report {
  readonly due?: number;
  readonly scan?: number;
  readonly publishing?: boolean;
  readonly resumed?: readonly string[];
  readonly recovered?: readonly { queue_name: string; reason: "orphan" | "stale"; recovered: number; died: number }[];
}

export function recoveryOf({ queue_name, ...counts }: NonNullable<Report["recovered"]>[number]): Recovery {
  return { queue: queue_name, ...counts };
}
