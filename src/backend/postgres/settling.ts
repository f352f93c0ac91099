/** The verbs that settle, through any executor: the pool, or the transaction of an atomic handler (D9). */
import type { Lease } from "../../batch/batch.js";
import type { SqlExecutor } from "../../transaction/executors.js";
import type { PartialSettlement, Settling } from "../backend.js";
import { leaseArrays } from "./rows.js";
import { storableText } from "./stored-text.js";

/** @param schema - quoted */
export function settlingThrough(executor: SqlExecutor, schema: string): Settling {
  const call = async (text: string, values: unknown[]) => {
    const { rows } = await executor.query(`select * from ${schema}.${text}`, values);
    return rows as readonly Record<string, unknown>[];
  };
  return {
    ack: async (leases) => idsOf(await call("ack($1, $2, $3) as id", leaseArrays(leases))),
    release: async (leases: readonly Lease[], delayMs: number) => {
      const delays = leases.map(() => Math.round(delayMs));
      return idsOf(await call("release($1, $2, $3, $4) as id", [...leaseArrays(leases), delays]));
    },
    settlePart: async (settlement) => {
      const rows = await call(
        "settle_part($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) as answer",
        partValues(settlement),
      );
      return (rows[0]?.answer ?? undefined) as "kept" | "delayed" | "gone" | undefined;
    },
  };
}

function partValues({ lease, rest, dead, failure }: PartialSettlement): unknown[] {
  return [
    lease.queue,
    lease.id,
    lease.token,
    rest?.payload ?? null,
    rest?.meta ?? null,
    rest?.positions ?? null,
    rest?.positions.length ?? null,
    dead.map(({ payload }) => payload),
    dead.map(({ meta }) => meta ?? null),
    dead.map(({ position }) => position),
    dead.map(({ reason }) => reason),
    dead.map(({ error }) => storableText(error)),
    failure === undefined ? null : Math.round(failure.delayMs),
    failure === undefined ? null : storableText(failure.error),
  ];
}

export function idsOf(rows: readonly Record<string, unknown>[]): ReadonlySet<string> {
  return new Set(rows.map(({ id }) => id as string));
}
