/** The publish path on one screen: encode -> validate -> collect or dedup -> buffer -> chunk -> insert. */
import type { Backend } from "../backend/backend.js";
import type { NewBatch } from "../batch/batch.js";
import { messageKey } from "../batch/message-key.js";
import type { OutgoingMessage } from "../batch/outgoing.js";
import { encodeMessage } from "../batch/payload.js";
import type { Instrument } from "../instrument.js";
import type { QueueDefinition } from "../queue/queue.js";
import type { Scope } from "../transaction/scope.js";
import type { Budget } from "./budget.js";
import { QueueBuffer } from "./buffer.js";
import { Chunker } from "./chunk.js";
import { dedup, dedupKeyOf } from "./dedup.js";
import { type DedupFunction, dedupBy } from "./dedup-function.js";
import { Entry, type Placed } from "./entry.js";
import type { PublishOptions } from "./publisher.js";
import { isDelayed, stowageOf } from "./stowage.js";
import { validateOutgoing } from "./validate.js";
import { withdrawal } from "./withdraw.js";
import { noteStored, type OnStored, placedIn, write } from "./write.js";

/** Of a call that stored nothing yet: collected for a commit, or empty. */
const nowhere: Placed = { batchIds: [], skipped: 0 };

export interface PublishParams {
  readonly backend: Backend;
  readonly instrument: Instrument;
  readonly budget: Budget;
  readonly onStored: OnStored;
  readonly dedupOf: DedupOf;
}

/** The client's own rule for a queue, if it has one. */
export type DedupOf = (definition: QueueDefinition) => DedupFunction | undefined;

/** Publishes to one queue. A scope is passed in by the client, which alone knows of the caller's transaction. */
export class QueuePublisher {
  readonly definition: QueueDefinition;
  readonly #params: PublishParams;
  readonly #buffer: QueueBuffer;
  /** Writes under way of a queue without a buffer. */
  readonly #unbuffered = new Set<Promise<void>>();

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
    const { json, bytes, value } = encodeMessage(name, message);
    validateOutgoing(this.definition, bytes, value);
    const repeatable = together || typeof settings.buffer === "object";
    const dedupKey = repeatable && settings.dedup !== undefined ? dedupKeyOf(settings.dedup, value) : undefined;
    const uniqueKey = settings.unique === undefined ? undefined : messageKey(settings.unique.by, value);
    const orderKey = settings.orderBy === undefined ? undefined : messageKey([settings.orderBy.by], value);
    return {
      json,
      bytes,
      stowage: stowageOf(name, options),
      ...(uniqueKey === undefined ? {} : { uniqueKey }),
      ...(orderKey === undefined ? {} : { orderKey }),
      ...(options?.headers === undefined ? {} : { headers: { ...options.headers } }),
      ...(dedupKey === undefined ? {} : { dedupKey }),
    };
  }

  /**
   * Stores messages that belong together. `answer` makes the caller's result from the batch of each message that was not
   * dropped as a repeat.
   */
  publish<Answer>(
    messages: readonly OutgoingMessage[],
    options: PublishOptions | undefined,
    scope: Scope | undefined,
    answer: (placed: Placed) => Answer,
  ): Promise<Answer> {
    if (messages.length === 0) return Promise.resolve(answer(nowhere));
    if (options?.tx !== undefined) return this.#publishThrough(messages, options.tx).then(answer);
    if (scope === undefined) {
      const kept = this.#dedup(messages);
      return kept.length === 0 ? Promise.resolve(answer(nowhere)) : this.#publishBuffered(kept, options, answer);
    }
    scope.collected.push({ definition: this.definition, messages });
    return Promise.resolve(answer(nowhere));
  }

  get bufferDepth(): number {
    return this.#buffer.depth;
  }

  async flush(): Promise<void> {
    await this.#buffer.flush();
    while (this.#unbuffered.size > 0) await Promise.all(this.#unbuffered);
  }

  /** Drops what the buffer could not write so far. */
  giveUp(): void {
    this.#buffer.giveUp();
  }

  #publishBuffered<Answer>(
    messages: readonly OutgoingMessage[],
    options: PublishOptions | undefined,
    answer: (placed: Placed) => Answer,
  ): Promise<Answer> {
    const entry = new Entry(messages);
    const unbuffered = this.definition.settings.buffer === false;
    this.#params.budget.enter(entry, () => (unbuffered ? this.#writeNow(entry) : this.#buffer.add(entry)));
    return withdrawal(entry, options, this.definition.name, () => {
      return this.#params.budget.leaveLine(entry) || this.#buffer.withdraw(entry);
    }).then(answer);
  }

  // `buffer: false`: the call's own write, tried once; its error is the caller's to handle.
  #writeNow(entry: Entry): void {
    const writing = write({ definition: this.definition, ...this.#params }, [entry]).then(
      ({ entries, error, resolve }) => {
        this.#unbuffered.delete(writing);
        resolve();
        if (entries.length > 0) entry.failed(error);
      },
    );
    this.#unbuffered.add(writing);
  }

  async #publishThrough(messages: readonly OutgoingMessage[], tx: NonNullable<PublishOptions["tx"]>): Promise<Placed> {
    const chunker = new Chunker(this.definition);
    const kept = this.#dedup(messages);
    const places = kept.map((message) => chunker.add(message));
    const stored = await this.#params.backend.publish(chunker.batches(), tx);
    const placed = placedIn(stored, places);
    noteStored(this.#params.instrument, this.definition.name, kept.length, placed.skipped);
    return placed;
  }

  #dedup(messages: readonly OutgoingMessage[]): readonly OutgoingMessage[] {
    return dedupNoted(this.definition, messages, this.#params);
  }
}

/** What a transaction wrote to one queue. */
export interface Flushed {
  readonly queue: string;
  readonly messages: number;
  readonly delayed: boolean;
}

/** Writes everything a transaction has collected through that transaction, deduplicated per queue. */
export async function flushScope(scope: Scope, params: Dedupers): Promise<readonly Flushed[]> {
  const perQueue = new Map<QueueDefinition, OutgoingMessage[]>();
  for (const { definition, messages } of scope.collected) {
    const all = perQueue.get(definition) ?? [];
    perQueue.set(definition, all);
    for (const message of messages) all.push(message);
  }
  const batches: NewBatch[] = [];
  const flushed: Flushed[] = [];
  for (const [definition, messages] of perQueue) {
    const chunker = new Chunker(definition);
    const kept = dedupNoted(definition, messages, params);
    for (const message of kept) chunker.add(message);
    batches.push(...chunker.batches());
    const delayed = kept.some(({ stowage }) => isDelayed(stowage));
    flushed.push({ queue: definition.name, messages: kept.length, delayed });
  }
  if (batches.length > 0) await scope.transaction.publish(batches);
  return flushed;
}

type Dedupers = Pick<PublishParams, "instrument" | "dedupOf">;

function dedupNoted(
  definition: QueueDefinition,
  messages: readonly OutgoingMessage[],
  { instrument, dedupOf }: Dedupers,
): readonly OutgoingMessage[] {
  const choose = dedupOf(definition);
  // A chain's step is no repeat of anything: dropped, it would take the whole chain with it.
  const isStep = ({ stowage }: OutgoingMessage) => stowage.chain !== undefined;
  const others = messages.some(isStep) ? messages.filter((message) => !isStep(message)) : messages;
  const { kept, dropped } =
    choose === undefined ? dedup(definition.settings.dedup, others) : dedupBy(definition.name, choose, others);
  if (dropped > 0) instrument.emit("deduplicated", { queue: definition.name, messages: dropped });
  if (others === messages) return kept;
  const stays = new Set(kept);
  return messages.filter((message) => isStep(message) || stays.has(message));
}
