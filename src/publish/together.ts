/** Messages that are published together, within their bounds (P17): checked as they come, for what comes may never end. */
import type { OutgoingMessage } from "../batch/outgoing.js";
import { PostriderError } from "../errors.js";

const maxMessages = 10_000;
const maxBytes = 32 * 1024 * 1024;

export class Together {
  readonly messages: OutgoingMessage[] = [];
  readonly #queue: string;
  #bytes = 0;

  constructor(queue: string) {
    this.#queue = queue;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws PostriderError `ERR_TOO_MANY` */
  add(message: OutgoingMessage): void {
    const queue = this.#queue;
    this.messages.push(message);
    this.#bytes += message.bytes;
    const [messages, bytes] = [this.messages.length, this.#bytes];
    if (messages <= maxMessages && bytes <= maxBytes) return;
    throw new PostriderError(
      "ERR_TOO_MANY",
      `queue "${queue}": ${messages} messages of ${bytes} bytes are published together; 10,000 messages and 32 MiB are allowed`,
      { details: { queue, messages, bytes } },
    );
  }
}
