/** Milliseconds on the machine's monotonic clock: the same in every process, and whatever the wall clock says. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
