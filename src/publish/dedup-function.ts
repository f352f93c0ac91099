/** The client's own rule for repeats within what is published together (P10), instead of the queue's. */
import { PostriderError } from "../errors.js";
import type { Deduplicated } from "./dedup.js";

/** What is left of the messages it is given: some of them, in any order. */
export type DedupFunction = (messages: readonly unknown[]) => readonly unknown[];

/**
 * The kept ones keep their places, whatever order the function returns. It is shown what will be stored, not the caller's
 * objects: those may have changed since, and must not be changed here (P1).
 *
 * @throws PostriderError `ERR_CLIENT_OPTIONS` when it returns what it was not given, or something twice
 */
export function dedupBy<Message extends { readonly json: string }>(
  queue: string,
  choose: DedupFunction,
  messages: readonly Message[],
): Deduplicated<Message> {
  if (messages.length < 2) return { kept: messages, dropped: 0 };
  const values = messages.map(({ json }) => JSON.parse(json) as unknown);
  const places = new Map<unknown, number[]>();
  for (const [place, value] of values.entries()) places.set(value, [...(places.get(value) ?? []), place]);
  const kept = new Set<number>();
  for (const value of choose(values)) {
    // Equal numbers or texts are indistinguishable: the first of them is meant first.
    const place = places.get(value)?.shift();
    if (place === undefined) {
      const message = `the dedup function of queue "${queue}" returned a message that it was not given, or one twice`;
      throw new PostriderError("ERR_CLIENT_OPTIONS", message, { details: { queue } });
    }
    kept.add(place);
  }
  if (kept.size === messages.length) return { kept: messages, dropped: 0 };
  return { kept: messages.filter((_, place) => kept.has(place)), dropped: messages.length - kept.size };
}
