/** Writes entries of one queue as one statement, and finds the guilty one where the database refuses for good (P8). */
import type { Backend, Stored } from "../backend/backend.js";
import type { OutgoingMessage } from "../batch/outgoing.js";
import type { Instrument } from "../instrument.js";
import type { QueueDefinition } from "../queue/queue.js";
import { Chunker } from "./chunk.js";
import { dedup } from "./dedup.js";
import type { Entry, Placed } from "./entry.js";
import { isDelayed } from "./stowage.js";

/** Called after each commit. `delayed`: some of it is not to be delivered yet. `announced`: other nodes know already. */
export type OnStored = (queue: string, how: { readonly delayed: boolean; readonly announced: boolean }) => void;

export interface WriteParams {
  readonly definition: QueueDefinition;
  readonly backend: Backend;
  readonly instrument: Instrument;
  readonly onStored: OnStored;
}

/** What a write came to. */
export interface Written {
  /** Met a passing error, `error`: to be tried again. */
  readonly entries: readonly Entry[];
  readonly error?: unknown;
  /** Resolves the promises of what was stored. For the caller to choose when: their continuations may run long. */
  readonly resolve: () => void;
}

const nothingStored = () => undefined;

/**
 * Settles every entry it can, stored or refused. A lasting error divides the write until the guilty entry stands alone and
 * is rejected, in order, so that the others go on.
 */
export async function write(params: WriteParams, entries: readonly Entry[]): Promise<Written> {
  const { definition, backend, instrument, onStored } = params;
  const chunker = new Chunker(definition);
  const placement = place(definition, entries, chunker);
  let stored: Stored;
  try {
    stored = await backend.publish(chunker.batches());
  } catch (error) {
    if (!backend.isPassing(error)) return await divide(params, entries, error);
    noteFailure(params, entries, error);
    return { entries, error, resolve: nothingStored };
  }
  const { places, dropped } = placement;
  onStored(definition.name, { delayed: hasDelayed(entries), announced: stored.announced });
  // A batch that is skipped holds one message: of one key there is no second in it.
  noteStored(instrument, definition.name, places.length - dropped, stored.skipped?.size ?? 0);
  if (dropped > 0) instrument.emit("deduplicated", { queue: definition.name, messages: dropped });
  return { entries: [], resolve: () => resolveAll(entries, places, stored) };
}

function resolveAll(entries: readonly Entry[], places: readonly number[], stored: Stored): void {
  let next = 0;
  for (const entry of entries) {
    const own = places.slice(next, next + entry.messages.length);
    next += entry.messages.length;
    entry.stored(placedIn(stored, own));
  }
}

/** Where messages went, by the batch each was put into. */
export function placedIn({ ids, skipped }: Stored, places: readonly number[]): Placed {
  const batchIds = places.map((place) => ids[place] as string);
  return { batchIds, skipped: skipped === undefined ? 0 : places.filter((place) => skipped.has(place)).length };
}

export function noteStored(instrument: Instrument, queue: string, messages: number, skipped: number): void {
  if (messages > skipped) instrument.emit("published", { queue, messages: messages - skipped });
  if (skipped > 0) instrument.emit("deduplicated", { queue, messages: skipped });
}

/** The batch of each message, in order. A window gathers publishes, so that repeats among them are dropped here once more (P10). */
function place({ settings }: QueueDefinition, entries: readonly Entry[], chunker: Chunker) {
  const messages = entries.flatMap((entry) => entry.messages);
  const rule = typeof settings.buffer === "object" ? settings.dedup : undefined;
  const { kept, dropped } = dedup(rule, messages);
  if (dropped === 0) return { places: messages.map((message) => chunker.add(message)), dropped };
  const placeOf = new Map<OutgoingMessage | string, number>();
  for (const message of kept) {
    const index = chunker.add(message);
    placeOf.set(message, index);
    if (message.dedupKey !== undefined) placeOf.set(message.dedupKey, index);
  }
  // A dropped message went where the kept one went.
  const places = messages.map((message) => placeOf.get(message) ?? placeOf.get(message.dedupKey ?? "") ?? 0);
  return { places, dropped };
}

async function divide(params: WriteParams, entries: readonly Entry[], error: unknown): Promise<Written> {
  if (entries.length === 1) {
    entries[0]?.failed(error);
    return { entries: [], resolve: nothingStored };
  }
  const middle = Math.ceil(entries.length / 2);
  const first = await write(params, entries.slice(0, middle));
  first.resolve();
  // Order is kept: what comes behind an entry that waits for another try waits with it.
  if (first.entries.length > 0) return { ...first, entries: [...first.entries, ...entries.slice(middle)] };
  return await write(params, entries.slice(middle));
}

function noteFailure(
  { definition, backend, instrument, onStored }: WriteParams,
  entries: readonly Entry[],
  error: unknown,
): void {
  instrument.emit("flushFailed", { queue: definition.name, error });
  if (!backend.isUnanswered(error)) return;
  // It may have been stored all the same, so it may have to be announced; and it will be stored again.
  instrument.emit("publishUnknown", { queue: definition.name, messages: countOf(entries) });
  onStored(definition.name, { delayed: hasDelayed(entries), announced: false });
}

function hasDelayed(entries: readonly Entry[]): boolean {
  return entries.some(({ messages }) => messages.some(({ stowage }) => stowage.key !== "" && isDelayed(stowage)));
}

export function countOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { messages }) => sum + messages.length, 0);
}
