/** One connection, and transactions on it of which one at a time runs in the whole cluster: what migrating works with. */
import pg from "pg";
import type { SchemaName } from "./schema-name.js";

/** Runs `work` on one connection of a pool, or on a connection of its own. */
export async function withClient<T>(database: pg.Pool | pg.ClientConfig, work: (client: pg.ClientBase) => Promise<T>) {
  if (database instanceof pg.Pool || "totalCount" in database) {
    const client = await (database as pg.Pool).connect();
    return await work(client).then(
      (result) => {
        client.release();
        return result;
      },
      (error) => {
        // Its transaction may still be open: closing it is cheaper than finding out.
        client.release(true);
        throw error;
      },
    );
  }
  const client = new pg.Client({ application_name: "postrider migrate", ...database });
  // A connection that dies between two statements is reported by the next statement; unheard, it would end the process.
  client.on("error", () => undefined);
  await client.connect();
  return await work(client).finally(() => client.end());
}

/**
 * Runs `work` in a transaction that waits for every other one of this kind on the same schema.
 *
 * @param lockTimeoutMs - how long a statement of `work` may wait for others' locks
 */
export async function inTransaction<T>(
  client: pg.ClientBase,
  schema: SchemaName,
  lockTimeoutMs: number,
  work: () => Promise<T>,
) {
  await client.query("begin");
  try {
    // Waiting for another node that migrates has no limit; waiting for a table has one, because whoever waits for an
    // exclusive lock makes everybody behind it wait. A transaction's lock, not a session's: poolers would strand that one.
    await client.query(
      "set local lock_timeout = 0; set local statement_timeout = 0; set local client_min_messages = warning",
    );
    await client.query("select pg_advisory_xact_lock(7304, hashtext($1))", [schema.name]);
    await client.query(`set local lock_timeout = ${Math.round(lockTimeoutMs)}; set local search_path = pg_catalog`);
    const result = await work();
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}
