/** Drops repeats within what is published together (P10). */

import { valueAt } from "../queue/pointer.js";
import type { Dedup } from "../queue/queue.js";

/** What is left, in order, and how many were dropped. */
export interface Deduplicated<Message> {
  readonly kept: readonly Message[];
  readonly dropped: number;
}

/** A message that lacks one of the keys is never a duplicate; the kept one keeps its place. */
export function dedup<Message extends { readonly dedupKey?: string }>(
  rule: Dedup | undefined,
  messages: readonly Message[],
): Deduplicated<Message> {
  if (rule === undefined || messages.length < 2) return { kept: messages, dropped: 0 };
  const kept = new Map<string, number>();
  const duplicates = new Set<number>();
  for (const [index, { dedupKey: key }] of messages.entries()) {
    if (key === undefined) continue;
    const earlier = kept.get(key);
    if (earlier === undefined) {
      kept.set(key, index);
    } else if (rule.keep === "last") {
      duplicates.add(earlier);
      kept.set(key, index);
    } else {
      duplicates.add(index);
    }
  }
  if (duplicates.size === 0) return { kept: messages, dropped: 0 };
  return { kept: messages.filter((_, index) => !duplicates.has(index)), dropped: duplicates.size };
}

/** Taken when the message is published: the caller may change the object before it is written. */
export function dedupKeyOf(rule: Dedup, message: unknown): string | undefined {
  const values: unknown[] = [];
  for (const pointer of rule.by) {
    const value = valueAt(message, pointer);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return JSON.stringify(values);
}
