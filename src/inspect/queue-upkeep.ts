/** What a queue's own access can tell and remove (J2). */
import type { Inspector } from "../backend/inspector.js";
import { keyOfValues } from "../batch/message-key.js";
import { PostriderError } from "../errors.js";
import type { QueueDefinition } from "../queue/queue.js";
import { assertId } from "./inspect-options.js";

/** One batch of a queue: by its id, or by the key it holds (`unique`). */
export type WhichBatch =
  | { readonly batchId: string }
  /** The value at the pointer of `unique.by`; where that names several, their values in an array, in its order. */
  | { readonly key: unknown };

export function queueUpkeep(inspector: Inspector, definition: QueueDefinition) {
  const { name: queue } = definition;
  return {
    size: async () => {
      const found = (await inspector.depths()).find((depth) => depth.queue === queue);
      const { pending = 0, delayed = 0, processing = 0 } = found ?? {};
      return { pending, delayed, processing };
    },
    clear: () => inspector.clear(queue),
    cancel: async (which: WhichBatch) => {
      if ("key" in which) return await inspector.cancelKey(queue, uniqueKeyOf(definition, which.key));
      assertId(queue, "batchId", which.batchId);
      return await inspector.cancel(queue, which.batchId);
    },
  };
}

/** The key as it is stored. */
function uniqueKeyOf({ name, settings: { unique } }: QueueDefinition, key: unknown): string {
  const refuse = (fault: string) => {
    throw new PostriderError("ERR_UNIQUE_KEY", `queue "${name}": cancel by key: ${fault}`, {
      details: { queue: name },
    });
  };
  if (unique === undefined) return refuse("the queue has no `unique`, so none of its batches holds a key");
  const count = unique.by.length;
  // As a message would hold them: a Date is its text.
  const values: unknown = JSON.parse(JSON.stringify(count === 1 ? [key] : key) ?? "null");
  if (!Array.isArray(values) || values.length !== count) {
    const found = Array.isArray(values) ? `${values.length} values` : typeof key;
    return refuse(`expected an array of the values at ${unique.by.join(", ")}, found ${found}`);
  }
  if (key === undefined) return refuse(`expected the value at ${unique.by.join(", ")}, found undefined`);
  return keyOfValues(values);
}
