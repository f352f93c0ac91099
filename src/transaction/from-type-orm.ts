/** TypeORM's transaction as `tx` of a publish (T6). */
import type { SqlExecutor } from "./executors.js";
import { notATransaction } from "./not-a-transaction.js";

/** What is needed of TypeORM's `QueryRunner`. */
export interface TypeOrmQueryRunner {
  readonly isTransactionActive: boolean;
  query(sql: string, params: unknown[], useStructuredResult: true): Promise<{ readonly records: readonly unknown[] }>;
}

/** What is needed of the entity manager that TypeORM hands to a transaction: in a transaction it has a query runner. */
export interface TypeOrmEntities {
  readonly queryRunner?: TypeOrmQueryRunner | undefined;
}

/**
 * `publishTo.orderPlaced(message, { tx: fromTypeOrm(entities) })` in `dataSource.transaction(async (entities) => …)`; a
 * query runner that has begun a transaction fits too.
 *
 * @throws PostriderError `ERR_PUBLISH_OPTIONS` when it is no transaction
 */
export function fromTypeOrm(transaction: TypeOrmEntities | TypeOrmQueryRunner): SqlExecutor {
  const runner = "isTransactionActive" in transaction ? transaction : transaction.queryRunner;
  if (runner?.isTransactionActive !== true) {
    throw notATransaction(
      "fromTypeOrm",
      "the argument of dataSource.transaction(), or a query runner in a transaction",
    );
  }
  return {
    query: async (sql, params = []) => {
      // Structured: without it, what an UPDATE answers has another shape than what an INSERT does.
      const { records } = await runner.query(sql, params, true);
      return { rows: records as Record<string, unknown>[] };
    },
  };
}
