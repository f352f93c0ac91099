/** What lies in the tables, for tests that look behind the library's back. */
import type pg from "pg";

/** A row of the batch table. */
export interface StoredBatch {
  readonly id: string;
  readonly status: string;
  readonly payload: string;
  readonly meta: string | null;
  readonly message_count: number;
  readonly failures: number;
  readonly crashes: number;
  readonly priority: number;
  readonly owner: string | null;
  readonly positions: number[] | null;
  readonly created_at: Date;
  readonly available_at: Date | null;
  readonly last_error: string | null;
}

/** A row of the dead letters. */
export interface DeadLetterRow extends Omit<StoredBatch, "status" | "available_at" | "last_error"> {
  readonly batch_id: string;
  readonly reason: string;
  readonly error: string;
}

export async function batchesOf(pool: pg.Pool, queue: string): Promise<readonly StoredBatch[]> {
  const { rows } = await pool.query<StoredBatch>(
    "select * from postrider.queue_message_batch where queue_name = $1 order by id",
    [queue],
  );
  return rows;
}

export async function deadOf(pool: pg.Pool, queue: string): Promise<readonly DeadLetterRow[]> {
  const { rows } = await pool.query<DeadLetterRow>(
    "select * from postrider.dead_message_batch where queue_name = $1 order by dead_id",
    [queue],
  );
  return rows;
}

/** The `n` of every message of these batches, in order. */
export function numbersOf(batches: readonly { readonly payload: string }[]): readonly number[] {
  return batches.flatMap(({ payload }) => (JSON.parse(payload) as { n: number }[]).map(({ n }) => n));
}

/** 0, 1, 2 … */
export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
