/** Knex's transaction as `tx` of a publish (T6). */
import type { SqlExecutor } from "./executors.js";
import { notATransaction } from "./not-a-transaction.js";

/** What is needed of Knex's `Knex.Transaction`. Its types leave `client` open, which is where text with `$1` is accepted. */
export interface KnexTransaction {
  readonly isTransaction?: boolean;
  readonly client: unknown;
}

interface KnexClient {
  query(connection: unknown, query: { readonly sql: string; readonly bindings: readonly unknown[] }): Promise<unknown>;
  acquireConnection(): Promise<unknown>;
  releaseConnection(connection: unknown): Promise<void>;
}

/**
 * `publishTo.orderPlaced(message, { tx: fromKnex(trx) })` in `knex.transaction(async (trx) => …)`.
 *
 * @throws PostriderError `ERR_PUBLISH_OPTIONS` when it is no transaction
 */
export function fromKnex({ isTransaction, client }: KnexTransaction): SqlExecutor {
  if (isTransaction !== true) throw notATransaction("fromKnex", "the transaction of knex.transaction()");
  const knex = client as KnexClient;
  return {
    // Not through `raw`: it knows `?` and not `$1`. A question mark of ours is escaped, so that it is not taken for one.
    query: async (sql, params = []) => {
      const connection = await knex.acquireConnection();
      try {
        const answer = await knex.query(connection, { sql: sql.replaceAll("?", "\\?"), bindings: params });
        return (answer as { readonly response: { readonly rows: Record<string, unknown>[] } }).response;
      } finally {
        await knex.releaseConnection(connection);
      }
    },
  };
}
