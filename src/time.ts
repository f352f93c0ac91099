/** Timers. Times that decide anything are the database's; a node only measures spans, on its monotonic clock. */

/** Milliseconds on the monotonic clock. */
export function monotonicMs(): number {
  return performance.now();
}

/** A span shortened by up to `share`, so that nodes do not march in step. Never longer: upper bounds are promises. */
export function jitterDown(ms: number, share = 0.2): number {
  return ms * (1 - share * Math.random());
}

/** Doubles from `firstMs` to `maxMs`, each spread over its upper half. `step` counts from 0. */
export function doublingMs(step: number, firstMs: number, maxMs: number): number {
  return jitterDown(Math.min(maxMs, firstMs * 2 ** Math.min(step, 30)), 0.5);
}

/** Resolves after `ms`, or at once when the signal is aborted. Never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** The promise's result, or a rejection that names what took longer than `ms`. The promise itself goes on. */
export function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Resolves when the promise has settled, when `ms` have passed, or when the signal is aborted. Never rejects. */
export async function atMost(ms: number, promise: Promise<unknown>, signal?: AbortSignal): Promise<void> {
  const settled = new AbortController();
  const done = () => settled.abort();
  promise.then(done, done);
  signal?.addEventListener("abort", done, { once: true });
  if (signal?.aborted) done();
  await pause(ms, settled.signal);
  signal?.removeEventListener("abort", done);
}

/** Resolves when what was begun in this turn of the event loop is on its way: statements are on the wire. */
export function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
