/** A batch as commands show it: its messages decoded, and what its queue never shows masked. */
import type { BatchView } from "../backend/inspector.js";
import { decodePayload } from "../batch/payload.js";
import { masked, maskedText } from "../queue/masked.js";

/** The view with `messages` in place of the payload, everywhere without what is redacted. */
export function shownBatch<View extends BatchView>(view: View, redact: readonly string[]) {
  const { payload, error, history, meta, ...rest } = view;
  const messages = decodePayload(payload);
  const text = (said: string) => maskedText(said, messages ?? [], redact);
  return {
    ...rest,
    messages: messages?.map((message) => masked(message, redact)) ?? "(no JSON array)",
    ...(meta === undefined ? {} : { headers: decodePayload(meta) }),
    ...(error === undefined ? {} : { error: text(error) }),
    // The steps that follow are other queues': what those never show is not known here.
    ...(rest.chain === undefined
      ? {}
      : { chain: { ...rest.chain, remaining: rest.chain.remaining.map(({ queue }) => queue) } }),
    history: history.map((death) => (death.error === undefined ? death : { ...death, error: text(death.error) })),
  };
}
