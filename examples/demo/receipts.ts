/**
 * What handlers received, in a table beside the queue's own: a row is committed before its handler ends, so it outlives a
 * worker that is killed. A message that was handled and not acknowledged is there twice in the end: a duplicate.
 */
import { createHash } from "node:crypto";
import type pg from "pg";
import type { BatchContext } from "postrider";
import { sharedClockMs } from "./protocol.js";

/** One message in one handler call. */
export interface Receipt {
  readonly seq: number;
  readonly node: string;
  readonly batchId: string;
  /** From the call of the publisher to the start of the handler. */
  readonly latencyMs: number;
  /** The message is the one that was published, character by character. */
  readonly intact: boolean;
  readonly at: Date;
}

export async function createReceipts(pool: pg.Pool, schema: string): Promise<void> {
  // Unlogged: it must survive a killed worker, not a killed server.
  await pool.query(
    `create unlogged table ${schema}.demo_receipt (
       seq int, node text, batch_id text, latency_ms float8, intact boolean, at timestamptz default clock_timestamp())`,
  );
}

/** Headers that let a handler recognise the message. */
export function identityHeaders(seq: number, message: unknown): Record<string, string> {
  return { digest: digestOf(message), seq: String(seq), sentAt: String(sharedClockMs()) };
}

/** The first statement of a handler. */
export async function recordReceipts(
  database: { readonly pool: pg.Pool; readonly schema: string; readonly node: string },
  messages: readonly unknown[],
  { headers, batchIds }: BatchContext,
): Promise<void> {
  const startedAt = sharedClockMs();
  await database.pool.query(
    `insert into ${database.schema}.demo_receipt (seq, node, batch_id, latency_ms, intact)
     select r.seq, $1, $2, r.latency_ms, r.intact from unnest($3::int[], $4::float8[], $5::boolean[]) as r (seq, latency_ms, intact)`,
    [
      database.node,
      batchIds[0],
      headers.map(({ seq }) => Number(seq)),
      headers.map(({ sentAt }) => startedAt - Number(sentAt)),
      headers.map(({ digest }, index) => digest === digestOf(messages[index])),
    ],
  );
}

export async function readReceipts(pool: pg.Pool, schema: string): Promise<readonly Receipt[]> {
  const { rows } = await pool.query<Receipt>(
    `select seq, node, batch_id as "batchId", latency_ms as "latencyMs", intact, at from ${schema}.demo_receipt order by at`,
  );
  return rows;
}

function digestOf(message: unknown): string {
  return createHash("sha1").update(JSON.stringify(message)).digest("base64");
}
