/** Publishes lines as an application does: most by themselves, some together in a transaction. */
import type { PostriderError, Runtime } from "postrider";
import { queues } from "../../generated/queues.js";
import { valueAt } from "../../src/queue/pointer.js";
import type { Entry, Input } from "./input.js";
import type { PublishedMessage } from "./protocol.js";
import { identityHeaders } from "./receipts.js";

export class LinePublisher {
  readonly #mq: Runtime;
  readonly #input: Input;
  #seq = 0;

  constructor(mq: Runtime, input: Input) {
    this.#mq = mq;
    this.#input = input;
  }

  /** Resolves when the message is stored; undefined where it was refused. Any other failure is an error of the demo. */
  async alone({ line, queue, message }: Entry): Promise<PublishedMessage | undefined> {
    const seq = this.#seq;
    this.#seq += 1;
    try {
      await this.#mq.queue(queue).publish(message, { headers: identityHeaders(seq, message) });
      return { seq };
    } catch (error) {
      this.#refuse(line, error);
      return undefined;
    }
  }

  /** All in one transaction: repeats among them are dropped, the last is kept. A refused line does not stop the others. */
  async together(entries: readonly Entry[]): Promise<readonly PublishedMessage[]> {
    const group = this.#seq;
    return await this.#mq.transaction(async () => {
      const published: PublishedMessage[] = [];
      for (const entry of entries) {
        const message = await this.alone(entry);
        const key = dedupKeyOf(entry);
        if (message !== undefined)
          published.push(key === undefined ? message : { ...message, dedupKey: `${group} ${key}` });
      }
      return published;
    });
  }

  #refuse(line: number, error: unknown): void {
    const { code, details, message } = error as PostriderError;
    if (code === "ERR_QUEUE_UNDECLARED") {
      this.#input.refuse(line, "/queue", message);
    } else if (code?.startsWith("ERR_MESSAGE_")) {
      this.#input.refuse(line, `/message${details.pointer ?? ""}`, message);
    } else {
      throw error;
    }
  }
}

function dedupKeyOf({ queue, message }: Entry): string | undefined {
  const rule = queues.find(({ name }) => name === queue)?.settings.dedup;
  if (rule === undefined) return undefined;
  return JSON.stringify([queue, ...rule.by.map((pointer) => valueAt(message, pointer))]);
}
