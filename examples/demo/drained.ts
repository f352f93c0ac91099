/** Waits until the queues are empty. The database decides, not what the processes believe. */
import { setTimeout as pause } from "node:timers/promises";
import type { DemoDatabase } from "./demo-database.js";

export interface Stand {
  /** Batches waiting or in flight. */
  readonly batches: number;
  /** Messages that handlers were given, repeats counted. */
  readonly received: number;
  /** Batches given up. */
  readonly dead: number;
}

const lookEveryMs = 50;
// Longer than it takes to recover the batches of a killed worker: at most 14 s.
const giveUpAfterMs = 40_000;

export async function lookAt({ pool, schema }: DemoDatabase): Promise<Stand> {
  const { rows } = await pool.query<Stand>(
    `select (select count(*)::int from ${schema}.queue_message_batch) as batches,
            (select count(*)::int from ${schema}.demo_receipt) as received,
            (select count(*)::int from ${schema}.dead_message_batch) as dead`,
  );
  return rows[0] as Stand;
}

/** How things stand when nothing waits any more, or when nothing has moved for 40 s. */
export async function drained(database: DemoDatabase, onLook: (stand: Stand) => void): Promise<Stand> {
  let moved = { at: performance.now(), key: "" };
  for (;;) {
    const stand = await lookAt(database);
    onLook(stand);
    if (stand.batches === 0) return stand;
    const key = JSON.stringify(stand);
    if (key !== moved.key) moved = { at: performance.now(), key };
    if (performance.now() - moved.at > giveUpAfterMs) return stand;
    await pause(lookEveryMs);
  }
}
