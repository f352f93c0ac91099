/** Gathers what several consuming processes handled. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Span } from "./systems/command.js";
import type { SystemProcess } from "./systems/system-process.js";

export interface Collected {
  readonly messages: number;
  readonly calls: number;
  readonly latencies: readonly number[];
  readonly spans: readonly Span[];
  /** How often a message was handled more than once. */
  readonly duplicates: number;
  /** What the busiest process handled, as a multiple of an even share. */
  readonly imbalance: number;
  /** From the first to the last delivery, in ms. */
  readonly spanMs: number;
  /** When the last delivery was, in ms by the machine's monotonic clock. */
  readonly lastAt: number;
}

/**
 * Waits until so many different messages were handled, or `limitMs` are over, where what was handled until then is the answer.
 *
 * @throws where nothing was handled at all
 */
export async function collect(
  consumers: readonly SystemProcess[],
  { count, limitMs = 60_000 }: { readonly count: number; readonly limitMs?: number },
): Promise<Collected> {
  const endsAt = performance.now() + limitMs;
  const handled = consumers.map(() => 0);
  const seen = new Set<string>();
  const latencies: number[] = [];
  const spans: Span[] = [];
  let [messages, calls, firstAt, lastAt] = [0, 0, Number.POSITIVE_INFINITY, 0];
  while (seen.size < count && performance.now() < endsAt) {
    for (const [index, consumer] of consumers.entries()) {
      const report = await consumer.report();
      if (report.messages === 0) continue;
      handled[index] = (handled[index] ?? 0) + report.messages;
      for (const id of report.orderIds) seen.add(id);
      for (const latency of report.latencies) latencies.push(latency);
      spans.push(...report.spans);
      messages += report.messages;
      calls += report.calls;
      firstAt = Math.min(firstAt, report.firstAt);
      lastAt = Math.max(lastAt, report.lastAt);
    }
    if (seen.size < count) await sleep(20);
  }
  if (messages === 0) throw new Error(`nothing was handled in ${limitMs} ms`);
  const share = messages / consumers.length;
  const imbalance = Math.max(...handled) / share;
  const duplicates = messages - seen.size;
  return { messages, calls, latencies, spans, duplicates, imbalance, spanMs: lastAt - firstAt, lastAt };
}
