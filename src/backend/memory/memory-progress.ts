/** The progress store in memory. */

import type { Lease } from "../../batch/batch.js";
import { chainKey, chainPercent, decodeChain } from "../../chain/chain.js";
import type { Progress, ProgressStore, ProgressUpdate } from "../progress-store.js";
import type { Store } from "./store.js";

export class MemoryProgress implements ProgressStore {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async get(key: string): Promise<Progress | undefined> {
    return this.#store.progress.get(key);
  }

  async set(key: string, update: ProgressUpdate): Promise<void> {
    this.#store.writeProgress(key, update);
  }

  async setOf(lease: Lease, { percent, stage }: { readonly percent: number; readonly stage?: string }) {
    const row = this.#store.owned(lease);
    if (row === undefined) return false;
    row.tracked = true;
    const chain = row.chain === undefined ? undefined : decodeChain(row.chain);
    const key = chain === undefined ? row.id : chainKey(chain.id);
    const update = { percent: chain === undefined ? percent : chainPercent(chain, percent) };
    this.#store.writeProgress(key, stage === undefined ? update : { ...update, stage });
    return true;
  }

  async purge(before: Date): Promise<number> {
    const old = [...this.#store.progress.values()].filter(({ updatedAt }) => updatedAt < before);
    for (const { key } of old) this.#store.progress.delete(key);
    return old.length;
  }
}
