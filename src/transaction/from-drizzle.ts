/** Drizzle's transaction as `tx` of a publish (T6), on any of its PostgreSQL drivers. */
import type { SqlExecutor } from "./executors.js";
import { notATransaction } from "./not-a-transaction.js";

/** What is needed of Drizzle's `PgTransaction`. Its parameter types name Drizzle's own classes, hence `never`. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>;
}

/**
 * `publishTo.orderPlaced(message, { tx: fromDrizzle(tx) })` in `db.transaction(async (tx) => …)`.
 *
 * @throws PostriderError `ERR_PUBLISH_OPTIONS` when it is no transaction
 */
export function fromDrizzle(transaction: DrizzleTransaction): SqlExecutor {
  if (!("rollback" in transaction)) throw notATransaction("fromDrizzle", "the transaction of db.transaction()");
  return {
    query: async (sql, params = []) => {
      // Drizzle asks a query only for its text and parameters; its own `sql` would spread an array into a list of values.
      const query = { getSQL: () => ({ toQuery: () => ({ sql, params: params.map(boundValue) }) }) };
      const answer = await transaction.execute(query as never);
      // node-postgres answers an object with rows, postgres.js the rows themselves.
      const rows = Array.isArray(answer) ? Array.from(answer) : (answer as { readonly rows: unknown[] }).rows;
      return { rows: rows as Record<string, unknown>[] };
    },
  };
}

// As Drizzle binds the dates of its own columns: on postgres.js it has switched off the driver's conversion.
function boundValue(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
