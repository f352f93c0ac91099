/** A transaction on one pooled connection, from BEGIN to the connection's return. */
import type pg from "pg";
import type { NewBatch } from "../../batch/batch.js";
import { within } from "../../time.js";
import type { OpenTransaction, TransactionOptions } from "../backend.js";
import type { Connections } from "./connection.js";
import { insertAll, insertPortions } from "./insert.js";
import { settlingThrough } from "./settling.js";

/** A connection that does not answer a rollback in this time is closed, which rolls back just as well. */
const rollbackWithinMs = 5_000;

export async function beginTransaction(
  connections: Connections,
  schema: string,
  { isolation, readOnly }: TransactionOptions,
): Promise<OpenTransaction> {
  const client = await connections.connect();
  // A connection that dies between two statements is reported by the next one; unheard, it would end the process.
  const ignore = () => undefined;
  client.on("error", ignore);
  let over = false;
  // Once: afterwards the connection is somebody else's, and so is whatever would be rolled back on it.
  const giveBack = (broken: boolean) => {
    if (over) return;
    over = true;
    client.off("error", ignore);
    client.release(broken);
  };
  let last: Promise<unknown> = Promise.resolve();
  // One after another: pg's own line for statements given at once is on its way out.
  const query = (text: string, values?: unknown[]): Promise<pg.QueryResult> => {
    const turn = last.then(() => client.query(text, values));
    last = turn.catch(() => undefined);
    return turn;
  };
  try {
    const mode = [isolation === undefined ? "" : `isolation level ${isolation}`, readOnly === true ? "read only" : ""];
    await query(`begin ${mode.join(" ")}`);
  } catch (error) {
    giveBack(true);
    throw error;
  }
  return {
    executor: { query },
    settling: settlingThrough({ query }, schema),
    publish: async (batches: readonly NewBatch[]) => {
      return (await insertAll({ query }, schema, insertPortions(batches), true)).ids;
    },
    savepoint: (name) => query(`savepoint ${name}`).then(() => undefined),
    releaseSavepoint: (name) => query(`release savepoint ${name}`).then(() => undefined),
    rollbackTo: (name) => query(`rollback to savepoint ${name}`).then(() => undefined),
    commit: async () => {
      // A transaction that an error has aborted answers COMMIT with ROLLBACK and no error of its own.
      const { command } = await query("commit");
      giveBack(false);
      if (command !== "COMMIT") throw new Error("the transaction was rolled back: a statement in it had failed");
    },
    rollback: async () => {
      if (over) return;
      await within(query("rollback"), rollbackWithinMs, "the rollback").then(
        () => giveBack(false),
        () => giveBack(true),
      );
    },
  };
}
