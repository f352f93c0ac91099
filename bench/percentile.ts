/** Order statistics of samples. */

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param share - 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1);
  return sorted[Math.max(0, index)] ?? Number.NaN;
}
