/** A transaction on one pooled connection, from BEGIN to the connection's return. */
import type pg from "pg";
import type { NewBatch } from "../../batch/batch.js";
import type { OpenTransaction, TransactionOptions } from "../backend.js";
import { insertAll, insertPortions } from "./insert.js";

export async function beginTransaction(
  pool: pg.Pool,
  schema: string,
  { isolation, readOnly }: TransactionOptions,
): Promise<OpenTransaction> {
  const client = await pool.connect();
  // A connection that dies between two statements is reported by the next one; unheard, it would end the process.
  const ignore = () => undefined;
  client.on("error", ignore);
  const giveBack = (broken: boolean) => {
    client.off("error", ignore);
    client.release(broken);
  };
  try {
    const mode = [isolation === undefined ? "" : `isolation level ${isolation}`, readOnly === true ? "read only" : ""];
    await client.query(`begin ${mode.join(" ")}`);
  } catch (error) {
    giveBack(true);
    throw error;
  }
  return {
    executor: client,
    publish: (batches: readonly NewBatch[]) => insertAll(client, schema, insertPortions(batches), true),
    savepoint: (name) => client.query(`savepoint ${name}`).then(() => undefined),
    releaseSavepoint: (name) => client.query(`release savepoint ${name}`).then(() => undefined),
    rollbackTo: (name) => client.query(`rollback to savepoint ${name}`).then(() => undefined),
    commit: () => commit(client, giveBack),
    rollback: () =>
      client.query("rollback").then(
        () => giveBack(false),
        () => giveBack(true),
      ),
  };
}

async function commit(client: pg.PoolClient, giveBack: (broken: boolean) => void): Promise<void> {
  // A transaction that an error has aborted answers COMMIT with ROLLBACK and no error of its own.
  const { command } = await client.query("commit");
  giveBack(false);
  if (command !== "COMMIT") throw new Error("the transaction was rolled back: a statement in it had failed");
}
