/** What the server spends in the product's functions, by its own count (`track_functions`). */
import pg from "pg";

/** The address with the counting switched on; only a superuser may. */
export function withFunctionTimes(connectionString: string): string {
  const url = new URL(connectionString);
  url.searchParams.set("options", "-c track_functions=all");
  return url.href;
}

/** Of the function that claims, all sessions that have ended: how often it was called, and how long it took in all. */
export async function claimTime(connectionString: string): Promise<{ readonly calls: number; readonly ms: number }> {
  const client = new pg.Client(connectionString);
  await client.connect();
  const { rows } = await client.query<{ calls: string; ms: number }>(
    `select calls, total_time as ms from pg_stat_user_functions where schemaname = 'postrider' and funcname = 'claim'`,
  );
  await client.end();
  return { calls: Number(rows[0]?.calls ?? 0), ms: rows[0]?.ms ?? 0 };
}
