/** The strict check of a message that is about to be published (P1). */
import { PostriderError } from "../errors.js";
import { explain } from "../queue/explain.js";
import type { QueueDefinition } from "../queue/queue.js";

/** @throws PostriderError `ERR_MESSAGE_INVALID` with pointer, expected and found; `ERR_MESSAGE_TOO_LARGE` */
export function validateOutgoing(definition: QueueDefinition, bytes: number, value: unknown): void {
  const { name, settings } = definition;
  // Two bytes are the brackets of a batch that holds this message alone.
  if (bytes + 2 > settings.maxBatchBytes) {
    throw new PostriderError(
      "ERR_MESSAGE_TOO_LARGE",
      `queue "${name}": the message has ${bytes} bytes of JSON; maxBatchBytes allows ${settings.maxBatchBytes - 2}`,
      { details: { queue: name, bytes: bytes, maxBatchBytes: settings.maxBatchBytes } },
    );
  }
  if (definition.validatePublish(value)) return;
  const { text, ...details } = explain(definition, definition.validatePublish.errors ?? [], value);
  throw new PostriderError("ERR_MESSAGE_INVALID", `queue "${name}": ${text}`, { details: { queue: name, ...details } });
}
