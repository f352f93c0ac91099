/** A transaction on the memory backend: what is published in it is stored when it commits. There is no database to query. */
import type { Lease, NewBatch } from "../../batch/batch.js";
import { PostriderError } from "../../errors.js";
import type { SqlExecutor } from "../../transaction/executors.js";
import type { OpenTransaction, Settling } from "../backend.js";
import type { Store } from "./store.js";

/** @throws PostriderError `ERR_NO_DATABASE` at every query */
export const noDatabase: SqlExecutor = {
  query: async () => {
    throw new PostriderError("ERR_NO_DATABASE", "the memory backend has no database to query");
  },
};

/** @param settling - of the backend: what settles in the transaction is kept until it commits */
export function openMemoryTransaction(store: Store, settling: Settling): OpenTransaction {
  let collected: { batch: NewBatch; seq: number }[] = [];
  let settlements: { readonly leases: readonly Lease[]; readonly write: () => Promise<unknown> }[] = [];
  const later = (leases: readonly Lease[], write: () => Promise<unknown>) => {
    const owned = leases.filter((lease) => store.owned(lease) !== undefined);
    settlements.push({ leases: owned, write });
    return new Set(owned.map(({ id }) => id));
  };
  const savepoints: { name: string; length: number }[] = [];
  const lastOf = (name: string) => {
    const place = savepoints.findLastIndex((savepoint) => savepoint.name === name);
    if (place === -1) throw new Error(`there is no savepoint ${name}`);
    return place;
  };
  return {
    executor: noDatabase,
    settling: {
      ack: async (leases) => later(leases, () => settling.ack(leases)),
      release: async (leases, delayMs) => later(leases, () => settling.release(leases, delayMs)),
      settlePart: async (part) => {
        const isOurs = later([part.lease], () => settling.settlePart(part)).size === 1;
        if (!isOurs) return undefined;
        if (part.failure !== undefined) return "delayed";
        return part.rest === undefined ? "gone" : "kept";
      },
    },
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
      const lost = settlements.some(({ leases }) => leases.some((lease) => store.owned(lease) === undefined));
      if (lost) throw new Error("a batch that was settled in this transaction was lost before its commit");
      for (const { write } of settlements) await write();
      for (const { batch, seq } of collected) store.publish(batch, seq);
      collected = [];
    },
    rollback: async () => {
      collected = [];
      settlements = [];
    },
  };
}
