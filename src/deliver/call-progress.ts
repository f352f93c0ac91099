/** `ctx.progress`: how far a call has come, written under its batch or chain, and only while the lease is held (J5). */
import type { ProgressStore } from "../backend/progress-store.js";
import type { Lease } from "../batch/batch.js";

/** `ctx.progress` of a call with these batches. */
export function progressOf(store: ProgressStore, leases: readonly Lease[]) {
  return async (percent: number, stage?: string): Promise<boolean> => {
    if (typeof percent !== "number" || Number.isNaN(percent)) {
      throw new TypeError(`progress takes a percentage, found ${String(percent)}`);
    }
    const update = stage === undefined ? { percent } : { percent, stage };
    const ours = await Promise.all(leases.map((lease) => store.setOf(lease, update)));
    return ours.every(Boolean);
  };
}
