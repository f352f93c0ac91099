/** Kysely's transaction as `tx` of a publish (T6). */
import type { SqlExecutor } from "./executors.js";
import { notATransaction } from "./not-a-transaction.js";

/** What is needed of Kysely's `Transaction<DB>`. */
export interface KyselyTransaction {
  readonly isTransaction: boolean;
  executeQuery(query: KyselyQuery): Promise<{ readonly rows: readonly unknown[] }>;
}

/** What Kysely calls a compiled query. Made here, so that Kysely is no dependency of ours. */
export interface KyselyQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly query: {
    readonly kind: "RawNode";
    readonly sqlFragments: readonly string[];
    readonly parameters: readonly never[];
  };
  readonly queryId: { readonly queryId: string };
}

/**
 * `publishTo.orderPlaced(message, { tx: fromKysely(trx) })` in `db.transaction().execute(async (trx) => …)`.
 *
 * @throws PostriderError `ERR_PUBLISH_OPTIONS` when it is no transaction
 */
export function fromKysely(transaction: KyselyTransaction): SqlExecutor {
  if (!transaction.isTransaction) throw notATransaction("fromKysely", "the transaction of db.transaction()");
  return {
    query: async (sql, params = []) => {
      const { rows } = await transaction.executeQuery({
        sql,
        parameters: params,
        query: { kind: "RawNode", sqlFragments: [sql], parameters: [] },
        queryId: { queryId: "postrider" },
      });
      return { rows: rows as Record<string, unknown>[] };
    },
  };
}
