/** Kills a worker with SIGKILL while one of its handlers runs, and says afterwards how its batches went on. */
import type { ChildNode } from "./child-node.js";
import type { DemoDatabase } from "./demo-database.js";
import type { Receipt } from "./receipts.js";

/** What was in the killed worker's hands. */
export interface Crash {
  readonly node: string;
  readonly killedAt: Date;
  readonly batchIds: readonly string[];
}

export interface CrashReport {
  readonly node: string;
  readonly batchesInFlight: number;
  /** From the kill until the last of them was in a handler again; null where none was in flight or one never came back. */
  readonly recoveredAfterMs: number | null;
}

// Where no further batch reaches the worker there is nothing to hang in; it is killed all the same.
const hangWithinMs = 5_000;

export async function crash(worker: ChildNode, { pool, schema }: DemoDatabase): Promise<Crash> {
  worker.tell("hang");
  await worker.hear("hanging", AbortSignal.timeout(hangWithinMs)).catch(() => undefined);
  await worker.kill();
  const { rows } = await pool.query<{ id: string | null; now: Date }>(
    `select b.id, t.now
       from (select clock_timestamp() as now) t
       left join ${schema}.node n on n.name = $1
       left join ${schema}.queue_message_batch b on b.owner = n.owner and b.status = 'processing'`,
    [worker.name],
  );
  return {
    node: worker.name,
    killedAt: rows[0]?.now ?? new Date(),
    batchIds: rows.flatMap(({ id }) => (id === null ? [] : [id])),
  };
}

/** @param receipts - in order of time */
export function crashReport({ node, killedAt, batchIds }: Crash, receipts: readonly Receipt[]): CrashReport {
  const back = batchIds.map((id) => receipts.find((receipt) => receipt.batchId === id && receipt.node !== node)?.at);
  const times = back.flatMap((at) => (at === undefined ? [] : [at.getTime() - killedAt.getTime()]));
  const isComplete = times.length > 0 && times.length === batchIds.length;
  return { node, batchesInFlight: batchIds.length, recoveredAfterMs: isComplete ? Math.max(...times) : null };
}
