/** A transaction on the memory backend: what is published in it is stored when it commits. There is no database to query. */
import type { NewBatch } from "../../batch/batch.js";
import { PostriderError } from "../../errors.js";
import type { SqlExecutor } from "../../transaction/executors.js";
import type { OpenTransaction } from "../backend.js";
import type { Store } from "./store.js";

/** @throws PostriderError `ERR_NO_DATABASE` at every query */
export const noDatabase: SqlExecutor = {
  query: async () => {
    throw new PostriderError("ERR_NO_DATABASE", "the memory backend has no database to query");
  },
};

export function openMemoryTransaction(store: Store): OpenTransaction {
  let collected: { batch: NewBatch; seq: number }[] = [];
  const savepoints: { name: string; length: number }[] = [];
  const lastOf = (name: string) => {
    const place = savepoints.findLastIndex((savepoint) => savepoint.name === name);
    if (place === -1) throw new Error(`there is no savepoint ${name}`);
    return place;
  };
  return {
    executor: noDatabase,
    publish: async (batches) => {
      const entries = batches.map((batch) => ({ batch, seq: store.nextId() }));
      collected.push(...entries);
      return entries.map(({ seq }) => String(seq));
    },
    savepoint: async (name) => {
      savepoints.push({ name, length: collected.length });
    },
    releaseSavepoint: async (name) => {
      savepoints.length = lastOf(name);
    },
    rollbackTo: async (name) => {
      const place = lastOf(name);
      collected.length = savepoints[place]?.length ?? 0;
      // As in SQL, the savepoint itself stays.
      savepoints.length = place + 1;
    },
    commit: async () => {
      for (const { batch, seq } of collected) store.publish(batch, seq);
      collected = [];
    },
    rollback: async () => {
      collected = [];
    },
  };
}
