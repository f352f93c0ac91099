/**
 * The library's own INSERT: many rows of VALUES in one statement, in the order given. `unnest(text[])` is three times slower:
 * every quote of the JSON is escaped into an array literal and parsed back.
 */
import type { NewBatch } from "../../batch/batch.js";
import type { SqlExecutor } from "../../transaction/executors.js";
import { writeBounds } from "../backend.js";

const columns = [
  "queue_name",
  "version",
  "priority",
  "message_count",
  "payload",
  "meta",
  "max_attempts",
  "stale_after_ms",
  "chain",
  "quiet",
  "status",
  "available_at",
];

/**
 * @param schema - quoted
 * @param quiet - true: the caller wakes after its commit; false: the trigger does, inside the transaction
 */
function insertStatement(schema: string, batches: readonly NewBatch[], quiet: boolean): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown, type: string) => `$${values.push(value ?? null)}::${type}`;
  const rows = batches.map((batch) => {
    const delay = delayExpression(batch, bind);
    const fields = [
      bind(batch.queue, "text"),
      bind(batch.version, "int"),
      bind(batch.priority, "int"),
      bind(batch.messageCount, "int"),
      bind(batch.payload, "text"),
      bind(batch.meta, "text"),
      bind(batch.maxAttempts, "int"),
      bind(batch.staleAfterMs, "bigint"),
      bind(batch.chain, "text"),
      quiet ? "true" : "null",
      delay === "null" ? "'pending'" : "'delayed'",
      delay,
    ];
    return `(${fields.join(", ")})`;
  });
  return {
    text: `insert into ${schema}.queue_message_batch (${columns.join(", ")}) values ${rows.join(", ")} returning id`,
    values,
  };
}

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

// Counted from the insert on the database's clock: the node's own may be wrong by any amount.
function delayExpression(batch: NewBatch, bind: (value: unknown, type: string) => string): string {
  if (batch.runAt !== undefined) return bind(batch.runAt.toISOString(), "timestamptz");
  if (batch.delayMs === undefined || batch.delayMs <= 0) return "null";
  return `clock_timestamp() + ${bind(batch.delayMs, "bigint")} * interval '1 millisecond'`;
}

/** Cut into statements, in order: at most {@link writeBounds} each. */
export function insertPortions(batches: readonly NewBatch[]): readonly (readonly NewBatch[])[] {
  const portions: NewBatch[][] = [];
  let bytes = 0;
  for (const batch of batches) {
    const last = portions.at(-1);
    if (last === undefined || last.length === writeBounds.rows || bytes + batch.bytes > writeBounds.bytes) {
      portions.push([batch]);
      bytes = batch.bytes;
      continue;
    }
    last.push(batch);
    bytes += batch.bytes;
  }
  return portions;
}

/** Runs the portions one after another through one executor; the ids in order. Parameters as in {@link insertStatement}. */
export async function insertAll(
  executor: SqlExecutor,
  schema: string,
  portions: readonly (readonly NewBatch[])[],
  quiet: boolean,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const portion of portions) {
    const { text, values } = insertStatement(schema, portion, quiet);
    const { rows } = await executor.query(text, values);
    for (const { id } of rows) ids.push(String(id));
  }
  return ids;
}

/**
 * The usual publish: one plain batch, through a function whose plan the session keeps (two thirds of the statement's time).
 *
 * @param announces - true: sleeping pollers are notified by this very transaction
 */
export async function insertOne(
  executor: SqlExecutor,
  schema: string,
  { queue, version, priority, messageCount, payload, meta }: NewBatch,
  announces: boolean,
): Promise<string> {
  const { rows } = await executor.query(`select ${schema}.insert_one($1, $2, $3, $4, $5, $6, $7) as id`, [
    queue,
    version,
    priority,
    messageCount,
    payload,
    meta ?? null,
    announces,
  ]);
  return String(rows[0]?.id);
}

/** Whether a batch has none of the options that `insert_one` does not know. */
export function isPlain({ delayMs = 0, runAt, maxAttempts, staleAfterMs, chain }: NewBatch): boolean {
  const isOrdinary = maxAttempts === undefined && staleAfterMs === undefined && chain === undefined;
  return isOrdinary && delayMs <= 0 && runAt === undefined;
}
