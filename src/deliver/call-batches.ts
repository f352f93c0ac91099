/** Which claimed batches are handled by one call: the claim has numbered the calls (D1). */
import type { Batch } from "../batch/batch.js";

export type CallBatches = readonly [Batch, ...Batch[]];

/** What was claimed, by handler call, in order. */
export function callsOf(batches: readonly Batch[]): readonly CallBatches[] {
  const calls = new Map<string, [Batch, ...Batch[]]>();
  for (const batch of batches) {
    const key = `${batch.call} ${batch.queue}`;
    const call = calls.get(key);
    if (call === undefined) calls.set(key, [batch]);
    else call.push(batch);
  }
  return [...calls.values()];
}
