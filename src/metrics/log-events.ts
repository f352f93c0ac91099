/** Writes what an operator should know to the client's logger, at a bounded rate. */
import type { Instrument, Logger } from "../instrument.js";
import { monotonicMs } from "../time.js";

/** The same part's errors are logged this often at most; a counter says how many were not. */
const everyMs = 10_000;

export function logEvents(instrument: Instrument, logger: Logger): void {
  const limited = new RateLimit(everyMs);
  const warn = (key: string, fields: object, message: string) => {
    limited.run(key, (suppressed) => logger.warn({ ...fields, ...(suppressed > 0 ? { suppressed } : {}) }, message));
  };
  instrument.on("error", ({ part, error }) => warn(`error ${part}`, { err: error, part }, `${part}: ${textOf(error)}`));
  instrument.on("flushFailed", ({ queue, error }) =>
    warn(`flush ${queue}`, { err: error, queue }, "a write of published messages failed and will be tried again"),
  );
  instrument.on("bufferDropped", ({ queue, messages, error }) =>
    logger.warn({ err: error, queue, messages }, "published messages could not be written and were dropped"),
  );
  instrument.on("handlerFailed", ({ queue, batchIds, error }) =>
    warn(`handler ${queue}`, { err: error, queue, batchIds }, `a handler failed: ${textOf(error)}`),
  );
  instrument.on("dead", ({ queue, batchId, reason, error }) =>
    warn(`dead ${queue}`, { queue, batchId, reason, error: error.slice(0, 500) }, "given up: see the dead letters"),
  );
  instrument.on("refused", ({ queue, batches }) =>
    logger.error(
      { queue, batches },
      `the last ${batches} batches of queue "${queue}" all died of its schema: this node claims it no more, until it is restarted or the queue resumed`,
    ),
  );
  instrument.on("leaseLost", ({ queue, batchId }) =>
    warn(`lost ${queue}`, { queue, batchId }, "a batch was taken over by recovery before it was settled"),
  );
  instrument.on("recovered", (recovery) => logger.info(recovery, "batches of a lost node were taken back"));
  instrument.on("listenerUp", () => logger.info({}, "LISTEN is up"));
}

// Anything may be thrown, also what refuses to be a text; the line about it must come all the same.
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "a value that cannot be shown";
  }
}

class RateLimit {
  readonly #everyMs: number;
  readonly #last = new Map<string, { at: number; suppressed: number }>();

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  run(key: string, action: (suppressed: number) => void): void {
    const last = this.#last.get(key);
    const now = monotonicMs();
    if (last !== undefined && now - last.at < this.#everyMs) {
      last.suppressed += 1;
      return;
    }
    this.#last.set(key, { at: now, suppressed: 0 });
    action(last?.suppressed ?? 0);
  }
}
