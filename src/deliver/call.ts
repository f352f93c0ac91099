/** One handler call: the messages of one stored batch, or of several that share the call (D1), in order. */
import type { Headers } from "../batch/payload.js";
import type { Delivery } from "./delivery.js";
import type { Outcome, PartialOutcome } from "./outcome.js";

/** The lists are as long as each other. */
export interface Call {
  readonly deliveries: readonly Delivery[];
  readonly messages: readonly unknown[];
  readonly headers: readonly Headers[];
  readonly ids: readonly string[];
  readonly publishedAt: readonly Date[];
}

export function callOf(deliveries: readonly Delivery[]): Call {
  const publishedAt = deliveries.flatMap(({ batch, messages }) => messages.map(() => batch.publishedAt));
  const [only] = deliveries;
  // The usual call: nothing is copied.
  if (only !== undefined && deliveries.length === 1) {
    return { deliveries, messages: only.messages, headers: only.headers, ids: only.ids, publishedAt };
  }
  return {
    deliveries,
    messages: deliveries.flatMap(({ messages }) => messages),
    headers: deliveries.flatMap(({ headers }) => headers),
    ids: deliveries.flatMap(({ ids }) => ids),
    publishedAt,
  };
}

export function batchIdsOf({ deliveries }: Call): readonly string[] {
  return deliveries.map(({ batch }) => batch.id);
}

/** What a partial outcome of the call is for each of its batches; `ack` where the whole batch is done. */
export function outcomePerBatch(
  { deliveries }: Call,
  outcome: PartialOutcome,
): readonly { readonly delivery: Delivery; readonly outcome: PartialOutcome | { readonly kind: "ack" } }[] {
  let from = 0;
  return deliveries.map((delivery) => {
    const to = from + delivery.messages.length;
    const part = partOf(outcome, from, to);
    from = to;
    return { delivery, outcome: part };
  });
}

function partOf(outcome: PartialOutcome, from: number, to: number): PartialOutcome | Extract<Outcome, { kind: "ack" }> {
  const within = <T>(entries: ReadonlyMap<number, T>) => {
    return new Map(
      [...entries].filter(([index]) => index >= from && index < to).map(([index, e]) => [index - from, e]),
    );
  };
  const failed = within(outcome.failed);
  const rejected = within(outcome.rejected);
  const among = (indexes: ReadonlySet<number>) => {
    return new Set([...indexes].filter((index) => index >= from && index < to).map((index) => index - from));
  };
  const [kept, together] = [among(outcome.kept), among(outcome.together ?? new Set())];
  if (failed.size === 0 && rejected.size === 0 && kept.size === 0) return { kind: "ack" };
  return { ...outcome, failed, together, rejected, kept };
}
