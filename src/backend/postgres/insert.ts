/**
 * The library's own INSERT: many rows of VALUES in one statement, in the order given. `unnest(text[])` is three times slower:
 * every quote of the JSON is escaped into an array literal and parsed back.
 */
import type { NewBatch } from "../../batch/batch.js";
import type { SqlExecutor } from "../../transaction/executors.js";
import { writeBounds } from "../backend.js";

const plainColumns = [
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
  // Only where somebody needs it: every parameter of every row costs.
  const ordered = batches.some(({ orderKey }) => orderKey !== undefined);
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
      ...(ordered ? [bind(batch.orderKey, "text")] : []),
    ];
    return `(${fields.join(", ")})`;
  });
  const columns = ordered ? [...plainColumns, "order_key"] : plainColumns;
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

/**
 * Batches some of which have a key that may be taken (J9): one call of `insert_unique` each, in the order of the keys, so that
 * two writers of the same keys do not wait for each other in a circle; the ids in the order given.
 */
function insertUniqueStatement(schema: string, batches: readonly NewBatch[], quiet: boolean): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown, type: string) => `$${values.push(value ?? null)}::${type}`;
  const rows = batches.map((batch, place) => {
    const { unique } = batch;
    const fields = [
      String(place),
      bind(batch.queue, "text"),
      bind(batch.version, "int"),
      bind(batch.priority, "int"),
      bind(batch.messageCount, "int"),
      bind(batch.payload, "text"),
      bind(batch.meta, "text"),
      bind(batch.maxAttempts, "int"),
      bind(batch.staleAfterMs, "bigint"),
      `(${delayExpression(batch, bind)})::timestamptz`,
      bind(batch.orderKey, "text"),
      bind(unique?.key, "text"),
      unique === undefined ? "null::boolean" : `${unique.whileRunning}`,
      `${unique?.onConflict === "replace"}`,
    ];
    return `(${fields.join(", ")})`;
  });
  return {
    // Ids first, in the order of publishing; each "offset 0" keeps its step apart from the next.
    text: `select i.place, r.id, r.stored
  from (select n.*
          from (select ${schema}.next_batch_id() as id, v.*
                  from (values ${rows.join(", ")}) as v (place, queue, version, priority, message_count, payload, meta,
                    max_attempts, stale_after_ms, available_at, order_key, unique_key, unique_running, replaces)
                offset 0) n
         order by n.unique_key, n.place
        offset 0) i
  cross join lateral ${schema}.insert_unique(i.id, i.queue, i.version, i.priority, i.message_count, i.payload, i.meta,
    i.max_attempts, i.stale_after_ms, i.available_at, i.order_key, i.unique_key, i.unique_running, i.replaces, ${!quiet}) r`,
    values,
  };
}

/** The ids in order, and the places of the batches that were skipped. */
export interface Inserted {
  readonly ids: readonly string[];
  readonly skipped?: ReadonlySet<number>;
}

/** Runs the portions one after another through one executor. Parameters as in {@link insertStatement}. */
export async function insertAll(
  executor: SqlExecutor,
  schema: string,
  portions: readonly (readonly NewBatch[])[],
  quiet: boolean,
): Promise<Inserted> {
  const ids: string[] = [];
  const skipped = new Set<number>();
  for (const portion of portions) {
    const before = ids.length;
    const isUnique = portion.some(({ unique }) => unique !== undefined);
    const { text, values } = (isUnique ? insertUniqueStatement : insertStatement)(schema, portion, quiet);
    const { rows } = await executor.query(text, values);
    for (const [index, { id, place = index, stored }] of rows.entries()) {
      ids[before + Number(place)] = String(id);
      if (stored === false) skipped.add(before + Number(place));
    }
  }
  return skipped.size === 0 ? { ids } : { ids, skipped };
}

/**
 * The usual publish: one plain batch, through a procedure whose plan the session keeps (two thirds of the statement's time). It
 * commits by itself: never inside a transaction.
 *
 * @param announces - true: sleeping pollers are notified by this very transaction
 */
export async function insertOne(
  executor: SqlExecutor,
  schema: string,
  { queue, version, priority, messageCount, payload, meta }: NewBatch,
  announces: boolean,
): Promise<string> {
  const { rows } = await executor.query(`call ${schema}.insert_one($1, $2, $3, $4, $5, $6, $7)`, [
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
export function isPlain(batch: NewBatch): boolean {
  const { delayMs = 0, runAt, maxAttempts, staleAfterMs, chain, orderKey, unique } = batch;
  const isOrdinary = maxAttempts === undefined && staleAfterMs === undefined && chain === undefined;
  const isUnkeyed = orderKey === undefined && unique === undefined;
  return isOrdinary && isUnkeyed && delayMs <= 0 && runAt === undefined;
}
