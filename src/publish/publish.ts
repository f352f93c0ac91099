/** The publish path on one screen: encode -> validate -> collect or dedup -> buffer -> chunk -> insert. */
import type { Backend } from "../backend/backend.js";
import type { OutgoingMessage } from "../batch/outgoing.js";
import { encodeMessage } from "../batch/payload.js";
import { PostriderError } from "../errors.js";
import type { Instrument } from "../instrument.js";
import type { QueueDefinition } from "../queue/queue.js";
import type { Scope } from "../transaction/scope.js";
import type { Budget } from "./budget.js";
import { QueueBuffer } from "./buffer.js";
import { Chunker } from "./chunk.js";
import { dedup, dedupKeyOf } from "./dedup.js";
import { Entry } from "./entry.js";
import type { PublishOptions } from "./publisher.js";
import { stowageOf } from "./stowage.js";
import { validateOutgoing } from "./validate.js";
import { withdrawal } from "./withdraw.js";
import { type OnStored, write } from "./write.js";

export interface PublishParams {
  readonly backend: Backend;
  readonly instrument: Instrument;
  readonly budget: Budget;
  readonly onStored: OnStored;
}

/** Publishes to one queue. A scope is passed in by the client, which alone knows of the caller's transaction. */
export class QueuePublisher {
  readonly definition: QueueDefinition;
  readonly #params: PublishParams;
  readonly #buffer: QueueBuffer;

  constructor(definition: QueueDefinition, params: PublishParams) {
    this.definition = definition;
    this.#params = params;
    this.#buffer = new QueueBuffer({ definition, ...params });
  }

  /**
   * Encodes and checks, synchronously: what the caller changes afterwards changes nothing (P1).
   *
   * @param together - whether other messages may be published together with it, so that it may be a repeat of one
   */
  prepare(message: unknown, options: PublishOptions | undefined, together: boolean): OutgoingMessage {
    const { name, settings } = this.definition;
    const { value, ...encoded } = encodeMessage(name, message);
    validateOutgoing(this.definition, encoded, value);
    const dedupKey = together && settings.dedup !== undefined ? dedupKeyOf(settings.dedup, value) : undefined;
    return {
      json: encoded.json,
      bytes: encoded.bytes,
      stowage: stowageOf(name, options),
      ...(options?.headers === undefined ? {} : { headers: { ...options.headers } }),
      ...(dedupKey === undefined ? {} : { dedupKey }),
    };
  }

  /**
   * Stores messages that belong together. `answer` makes the caller's result from the batch of each message that was not
   * dropped as a repeat. Not async: the promise returned is the very one that `Entry.dropped` quietens.
   */
  publish<Answer>(
    messages: readonly OutgoingMessage[],
    options: PublishOptions | undefined,
    scope: Scope | undefined,
    answer: (batchIds: readonly string[]) => Answer,
  ): Promise<Answer> {
    if (messages.length === 0) return Promise.resolve(answer([]));
    if (options?.tx !== undefined) return this.#publishThrough(messages, options.tx).then(answer);
    if (scope === undefined) return this.#publishBuffered(this.#dedup(messages), options, answer);
    scope.collected.push({ definition: this.definition, messages });
    return Promise.resolve(answer([]));
  }

  get bufferDepth(): number {
    return this.#buffer.depth;
  }

  flush(): Promise<void> {
    return this.#buffer.flush();
  }

  #publishBuffered<Answer>(
    messages: readonly OutgoingMessage[],
    options: PublishOptions | undefined,
    answer: (batchIds: readonly string[]) => Answer,
  ): Promise<Answer> {
    const entry = new Entry(messages);
    const unbuffered = this.definition.settings.buffer === false;
    this.#params.budget.enter(entry, () => (unbuffered ? void this.#writeNow(entry) : this.#buffer.add(entry)));
    const result = withdrawal(entry, options, this.definition.name, () => {
      return this.#params.budget.leaveLine(entry) || this.#buffer.withdraw(entry);
    }).then(answer);
    entry.quietenWhenDropped(result);
    return result;
  }

  // `buffer: false`: the call's own write, tried once; its error is the caller's to handle.
  async #writeNow(entry: Entry): Promise<void> {
    const { entries, error } = await write({ definition: this.definition, ...this.#params }, [entry]);
    if (entries.length > 0) entry.failed(error);
  }

  async #publishThrough(messages: readonly OutgoingMessage[], tx: NonNullable<PublishOptions["tx"]>) {
    const chunker = new Chunker(this.definition);
    const kept = this.#dedup(messages);
    const places = kept.map((message) => chunker.add(message));
    const { ids } = await this.#params.backend.publish(chunker.batches(), tx);
    this.#params.instrument.emit("published", { queue: this.definition.name, messages: kept.length });
    return places.map((place) => ids[place] as string);
  }

  #dedup(messages: readonly OutgoingMessage[]): readonly OutgoingMessage[] {
    return dedupNoted(this.definition, messages, this.#params.instrument);
  }
}

/** Writes everything a transaction has collected through that transaction, deduplicated per queue; the queues written to. */
export async function flushScope(scope: Scope, instrument: Instrument): Promise<readonly string[]> {
  const perQueue = new Map<QueueDefinition, OutgoingMessage[]>();
  for (const { definition, messages } of scope.collected) {
    const all = perQueue.get(definition) ?? [];
    perQueue.set(definition, all);
    all.push(...messages);
  }
  const batches = [...perQueue].flatMap(([definition, messages]) => {
    const chunker = new Chunker(definition);
    for (const message of dedupNoted(definition, messages, instrument)) chunker.add(message);
    return chunker.batches();
  });
  if (batches.length > 0) await scope.transaction.publish(batches);
  return [...perQueue.keys()].map(({ name }) => name);
}

function dedupNoted(definition: QueueDefinition, messages: readonly OutgoingMessage[], instrument: Instrument) {
  const { kept, dropped } = dedup(definition.settings.dedup, messages);
  if (dropped > 0) instrument.emit("deduplicated", { queue: definition.name, messages: dropped });
  return kept;
}

/** The bounds of what may be published together (P17). */
export function checkTogether(queue: string, messages: readonly OutgoingMessage[]): void {
  const bytes = messages.reduce((sum, message) => sum + message.bytes, 0);
  if (messages.length <= 10_000 && bytes <= 32 * 1024 * 1024) return;
  throw new PostriderError(
    "ERR_TOO_MANY",
    `queue "${queue}": ${messages.length} messages of ${bytes} bytes are published together; 10,000 messages and 32 MiB are allowed`,
    { details: { queue, messages: messages.length, bytes } },
  );
}
