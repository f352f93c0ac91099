/** Anything that can run SQL in the caller's own transaction: a `pg` client fits as it is. */
export interface SqlExecutor {
  query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}
