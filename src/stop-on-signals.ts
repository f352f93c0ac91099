/** SIGTERM and SIGINT stop a client; a second one lets go of running batches at once (M5). */
import type { StopOptions } from "./runtime.js";

/**
 * @param stop - called with the time handlers may still take; again, with 0, for the second signal
 * @returns undoes it
 */
export function stopOnSignals(stop: (timeoutMs: number) => Promise<void>, options: StopOptions = {}): () => void {
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    // The process ends by itself when nothing is left open; it is not ours to exit.
    void stop(signals === 1 ? (options.timeoutMs ?? 30_000) : 0).finally(undo);
  };
  const undo = () => {
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return undo;
}
