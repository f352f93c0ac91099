/** What the body of a `collect` puts, in order, for as long as it runs (P4). */
import type { OutgoingMessage } from "../batch/outgoing.js";
import { PostriderError } from "../errors.js";
import type { QueuePublisher } from "./publish.js";
import type { PublishOptions } from "./publisher.js";
import { Together } from "./together.js";

/**
 * Runs the body. What is put by something the body did not wait for would be lost without a word: from its end on `put` throws.
 *
 * @throws PostriderError `ERR_TOO_MANY`; whatever the body throws
 */
export async function gather<Result>(
  to: QueuePublisher,
  body: (put: (message: unknown) => void) => Result | Promise<Result>,
  options: PublishOptions | undefined,
): Promise<{ readonly result: Result; readonly messages: readonly OutgoingMessage[] }> {
  const queue = to.definition.name;
  const together = new Together(queue);
  let over = false;
  try {
    const result = await body((message) => {
      if (over) throw putTooLate(queue);
      together.add(to.prepare(message, options, true));
    });
    return { result, messages: together.messages };
  } finally {
    over = true;
  }
}

function putTooLate(queue: string): PostriderError {
  return new PostriderError("ERR_COLLECT_OVER", `queue "${queue}": put was called after its collect had ended`, {
    details: { queue },
  });
}
