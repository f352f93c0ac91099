/** Waits until a client has nothing left to do (K2). */
import type { Inspector } from "../backend/inspector.js";
import { monotonicMs } from "../time.js";
import { letTimePass } from "./fake-time.js";

/** Settings of {@link waitForIdle}. */
export interface IdleOptions {
  /** Default 10,000. */
  readonly timeoutMs?: number;
}

/** Who is to become idle. */
export interface Busy {
  readonly inspector: Inspector;
  /** Queues that somebody listens to: what others hold waits for nobody. */
  readonly listening: () => readonly string[];
  readonly bufferDepth: () => number;
}

const looksApartMs = 20;

/**
 * Resolves after two looks in a row, 20 ms apart, that find nothing waiting, nothing in a handler and nothing about to be
 * retried. Messages that were published for later do not count.
 *
 * @throws Error that names what is still busy
 */
export async function waitForIdle(client: Busy, { timeoutMs = 10_000 }: IdleOptions = {}): Promise<void> {
  // By the test's own clock, where it has one: each look moves it.
  const deadline = monotonicMs() + timeoutMs;
  for (let idleLooks = 0; idleLooks < 2; ) {
    const busy = await whatIsBusy(client);
    idleLooks = busy.length === 0 ? idleLooks + 1 : 0;
    if (busy.length > 0 && monotonicMs() > deadline) {
      throw new Error(`not idle after ${timeoutMs} ms: ${busy.join("; ")}`);
    }
    if (idleLooks < 2) await letTimePass(looksApartMs);
  }
}

async function whatIsBusy({ inspector, listening, bufferDepth }: Busy): Promise<readonly string[]> {
  const busy: string[] = [];
  if (bufferDepth() > 0) busy.push(`${bufferDepth()} messages in the publish buffer`);
  const queues = new Set(listening());
  for (const { queue, pending, processing, delayed } of await inspector.depths()) {
    if (!queues.has(queue)) continue;
    const retries = delayed === 0 ? [] : (await inspector.peek(queue, "delayed", 1_000)).filter(hasFailed);
    const counts = { waiting: pending, "in handlers": processing, "waiting for a retry": retries.length };
    const parts = Object.entries(counts).flatMap(([what, count]) => (count > 0 ? `${count} ${what}` : []));
    const why = retries[0]?.error === undefined ? "" : ` (${retries[0].error.split("\n")[0]})`;
    if (parts.length > 0) busy.push(`queue "${queue}": ${parts.join(", ")}${why}`);
  }
  return busy;
}

function hasFailed({ failures, crashes }: { readonly failures: number; readonly crashes: number }): boolean {
  return failures > 0 || crashes > 0;
}
