/** Prisma's interactive transaction as `tx` of a publish (T6). */
import type { SqlExecutor } from "./executors.js";
import { notATransaction } from "./not-a-transaction.js";

/** What is needed of Prisma's `Prisma.TransactionClient`. */
export interface PrismaTransaction {
  $queryRawUnsafe(sql: string, ...params: unknown[]): PromiseLike<unknown>;
}

/**
 * `publishTo.orderPlaced(message, { tx: fromPrisma(tx) })` in `prisma.$transaction(async (tx) => …)`.
 *
 * @throws PostriderError `ERR_PUBLISH_OPTIONS` when it is no transaction
 */
export function fromPrisma(transaction: PrismaTransaction): SqlExecutor {
  if ((transaction as { readonly $connect?: unknown }).$connect !== undefined) {
    throw notATransaction("fromPrisma", "the client of prisma.$transaction(async (tx) => …)");
  }
  return {
    query: async (sql, params = []) => {
      // "Unsafe" is the text; the values are bound all the same.
      const rows = await transaction.$queryRawUnsafe(sql, ...params);
      return { rows: rows as Record<string, unknown>[] };
    },
  };
}
