/** What a queue's own access can tell and remove (J2). */
import type { Inspector } from "../backend/inspector.js";
import { assertId } from "./inspect-options.js";

export function queueUpkeep(inspector: Inspector, queue: string) {
  return {
    size: async () => {
      const found = (await inspector.depths()).find((depth) => depth.queue === queue);
      const { pending = 0, delayed = 0, processing = 0 } = found ?? {};
      return { pending, delayed, processing };
    },
    clear: () => inspector.clear(queue),
    cancel: async ({ batchId }: { readonly batchId: string }) => {
      assertId(queue, "batchId", batchId);
      return await inspector.cancel(queue, batchId);
    },
  };
}
