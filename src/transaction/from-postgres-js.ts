/** A transaction of postgres.js as `tx` of a publish (T6). */
import type { SqlExecutor } from "./executors.js";
import { notATransaction } from "./not-a-transaction.js";

/** What is needed of postgres.js's `TransactionSql` or `ReservedSql`. Its parameter types name its own, hence `never`. */
export interface PostgresJsTransaction {
  unsafe(sql: string, params?: never): PromiseLike<ArrayLike<unknown>>;
}

/**
 * `publishTo.orderPlaced(message, { tx: fromPostgresJs(sql) })` in `sql.begin(async (sql) => …)`; a reserved connection on
 * which `begin` has run fits too.
 *
 * @throws PostriderError `ERR_PUBLISH_OPTIONS` when it is no transaction
 */
export function fromPostgresJs(transaction: PostgresJsTransaction): SqlExecutor {
  if (!("savepoint" in transaction || "release" in transaction)) {
    throw notATransaction("fromPostgresJs", "the sql of sql.begin(), or a reserved connection");
  }
  return {
    query: async (sql, params = []) => {
      const rows = await transaction.unsafe(sql, params as never);
      // The result is an array with more on it; callers get the rows and nothing else.
      return { rows: Array.from(rows) as Record<string, unknown>[] };
    },
  };
}
