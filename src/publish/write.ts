/** Writes entries of one queue as one statement, and finds the guilty one where the database refuses for good (P8). */
import type { Backend } from "../backend/backend.js";
import type { Instrument } from "../instrument.js";
import type { QueueDefinition } from "../queue/queue.js";
import { Chunker } from "./chunk.js";
import type { Entry } from "./entry.js";
import { isDelayed } from "./stowage.js";

/** Called after each commit. `delayed`: some of it is not to be delivered yet. `announced`: other nodes know already. */
export type OnStored = (queue: string, how: { readonly delayed: boolean; readonly announced: boolean }) => void;

export interface WriteParams {
  readonly definition: QueueDefinition;
  readonly backend: Backend;
  readonly instrument: Instrument;
  readonly onStored: OnStored;
}

/** The entries that met a passing error, to be tried again, and that error. */
export interface Unwritten {
  readonly entries: readonly Entry[];
  readonly error?: unknown;
}

/**
 * Settles every entry it can, stored or refused. A lasting error divides the write until the guilty entry stands alone and
 * is rejected, in order, so that the others go on.
 */
export async function write(params: WriteParams, entries: readonly Entry[]): Promise<Unwritten> {
  const { definition, backend, instrument, onStored } = params;
  const chunker = new Chunker(definition);
  const places = entries.map(({ messages }) => messages.map((message) => chunker.add(message)));
  try {
    const { ids, announced } = await backend.publish(chunker.batches());
    for (const [index, entry] of entries.entries()) {
      entry.stored((places[index] as number[]).map((place) => ids[place] as string));
    }
    instrument.emit("published", { queue: definition.name, messages: countOf(entries) });
    onStored(definition.name, { delayed: hasDelayed(entries), announced });
    return { entries: [] };
  } catch (error) {
    if (backend.isPassing(error)) {
      noteFailure(params, entries, error);
      return { entries, error };
    }
    const [only] = entries;
    if (entries.length === 1) {
      only?.failed(error);
      return { entries: [] };
    }
    const middle = Math.ceil(entries.length / 2);
    const first = await write(params, entries.slice(0, middle));
    // Order is kept: what comes behind an entry that waits for another try waits with it.
    if (first.entries.length > 0) return { ...first, entries: [...first.entries, ...entries.slice(middle)] };
    return await write(params, entries.slice(middle));
  }
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
