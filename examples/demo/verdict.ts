/** Holds what was published against what was received. */
import type { PublishedMessage } from "./protocol.js";
import type { Receipt } from "./receipts.js";

export interface Verdict {
  /** Messages stored: their promises resolved, and dedup did not drop them for a later one. */
  readonly published: number;
  readonly deduplicated: number;
  /** Of the published ones, those that a handler received at least once. */
  readonly delivered: number;
  readonly lost: number;
  /** Receipts beyond the first of a message. */
  readonly duplicates: number;
  /** Received, but not as they were published. */
  readonly damaged: number;
  /** Received, though nobody was told that they were stored, or though dedup should have dropped them. */
  readonly unexpected: number;
  /** Messages that each node's handlers were given, repeats counted. */
  readonly perNode: Readonly<Record<string, number>>;
}

export function judge(
  messages: readonly PublishedMessage[],
  receipts: readonly Receipt[],
  nodes: readonly string[],
): Verdict {
  const stored = storedOf(messages);
  const received = new Set<number>();
  const perNode: Record<string, number> = Object.fromEntries(nodes.map((node) => [node, 0]));
  let duplicates = 0;
  for (const { seq, node } of receipts) {
    perNode[node] = (perNode[node] ?? 0) + 1;
    if (received.has(seq)) duplicates += 1;
    received.add(seq);
  }
  const delivered = [...stored].filter((seq) => received.has(seq)).length;
  return {
    published: stored.size,
    deduplicated: messages.length - stored.size,
    delivered,
    lost: stored.size - delivered,
    duplicates,
    damaged: receipts.filter(({ intact }) => !intact).length,
    unexpected: received.size - delivered,
    perNode,
  };
}

/** Of messages with equal keys only the last is stored. */
function storedOf(messages: readonly PublishedMessage[]): ReadonlySet<number> {
  const lastOfKey = new Map<string, number>();
  for (const { seq, dedupKey } of messages) {
    if (dedupKey !== undefined) lastOfKey.set(dedupKey, Math.max(seq, lastOfKey.get(dedupKey) ?? -1));
  }
  const stored = messages.filter(({ seq, dedupKey }) => dedupKey === undefined || lastOfKey.get(dedupKey) === seq);
  return new Set(stored.map(({ seq }) => seq));
}

/** The value that this share of the sorted values does not exceed, rounded to a tenth; null where there are none. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  return value === undefined ? null : Math.round(value * 10) / 10;
}
