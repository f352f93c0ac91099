/** A claimed batch opened for its handler: decoded, checked, and what does not fit put aside (D6). */
import { type Batch, messageId } from "../batch/batch.js";
import { decodeMeta, decodePayload, type Headers } from "../batch/payload.js";
import { explain } from "../queue/explain.js";
import type { QueueDefinition } from "../queue/queue.js";
import type { Settler } from "./settle.js";

/** What the handler gets of one batch. The lists are as long as each other. */
export interface Delivery {
  readonly batch: Batch;
  readonly messages: readonly unknown[];
  readonly headers: readonly Headers[];
  readonly ids: readonly string[];
}

/** A batch as it was opened, and which of its messages are invalid, with why. */
interface Opened {
  /** Absent when the payload is no JSON array. */
  readonly delivery?: Delivery;
  readonly faults: ReadonlyMap<number, string>;
}

const noFaults: ReadonlyMap<number, string> = new Map();

/**
 * Opens the batches of one call. What cannot be handled is buried: a payload that is no array, invalid messages. What is left
 * to handle; at once where nothing is to be buried, so that the handler of the usual call starts without waiting.
 */
export function openDeliveries(
  definition: QueueDefinition,
  batches: readonly Batch[],
  settler: Settler,
): readonly Delivery[] | Promise<readonly Delivery[]> {
  const opened = batches.map((batch) => open(definition, batch));
  const clean = opened.flatMap(({ delivery, faults }) => (delivery === undefined || faults.size > 0 ? [] : delivery));
  if (clean.length === batches.length) return clean;
  return Promise.all(opened.map((each, index) => buryFaulty(each, batches[index] as Batch, settler))).then((left) =>
    left.filter((delivery) => delivery !== undefined),
  );
}

function open(definition: QueueDefinition, batch: Batch): Opened {
  const messages = decodePayload(batch.payload);
  if (messages === undefined) return { faults: noFaults };
  const headers = decodeMeta(batch.meta, messages.length);
  const ids = messages.map((_, index) => messageId(batch, index));
  return { delivery: { batch, messages, headers, ids }, faults: faultsOf(definition, messages) };
}

function faultsOf(definition: QueueDefinition, messages: readonly unknown[]): ReadonlyMap<number, string> {
  let faults: Map<number, string> | undefined;
  for (const [index, message] of messages.entries()) {
    const fault = faultOf(definition, message);
    if (fault === undefined) continue;
    faults ??= new Map();
    faults.set(index, fault);
  }
  return faults ?? noFaults;
}

function faultOf(definition: QueueDefinition, message: unknown): string | undefined {
  try {
    if (definition.validateDeliver(message)) return undefined;
    return explain(definition, definition.validateDeliver.errors ?? [], message).text;
  } catch (error) {
    // Nesting of thousands of levels overflows a recursive validator's stack: such a message is invalid, not unlucky.
    return `the message cannot be checked: ${String(error)}`;
  }
}

async function buryFaulty({ delivery, faults }: Opened, batch: Batch, settler: Settler): Promise<Delivery | undefined> {
  if (delivery === undefined) {
    await settler.deadLetter([{ lease: batch, reason: "decode", error: "the payload is no JSON array" }]);
    return undefined;
  }
  if (faults.size === 0) return delivery;
  const rest = withoutMessages(delivery, new Set(faults.keys()));
  const dead = [...faults].map(([index, error]) => ({
    ...singleOf(delivery, index),
    reason: "schema" as const,
    error,
  }));
  const ours = await settler.part(batch, { dead, ...(rest === undefined ? {} : { rest: restOf(rest) }) });
  return ours ? rest : undefined;
}

/** The delivery without some of its messages; undefined when none is left. */
export function withoutMessages(delivery: Delivery, gone: ReadonlySet<number>): Delivery | undefined {
  const stays = delivery.messages.map((_, index) => index).filter((index) => !gone.has(index));
  if (stays.length === 0) return undefined;
  const pick = <T>(list: readonly T[]) => stays.map((index) => list[index] as T);
  const messages = pick(delivery.messages);
  const headers = pick(delivery.headers);
  const { meta: _meta, ...batch } = delivery.batch;
  return {
    messages,
    headers,
    ids: pick(delivery.ids),
    batch: {
      ...batch,
      messageCount: stays.length,
      payload: JSON.stringify(messages),
      positions: stays.map((index) => positionOf(delivery.batch, index)),
      ...(delivery.batch.meta === undefined ? {} : { meta: JSON.stringify(headers) }),
    },
  };
}

/** What stays of a delivery, as the backend takes it. */
export function restOf({ batch }: Delivery): { payload: string; meta?: string; positions: readonly number[] } {
  return {
    payload: batch.payload,
    positions: batch.positions ?? [],
    ...(batch.meta === undefined ? {} : { meta: batch.meta }),
  };
}

/** One message of a delivery, as the backend buries it. */
export function singleOf(delivery: Delivery, index: number): { payload: string; meta?: string; position: number } {
  return {
    payload: JSON.stringify([delivery.messages[index]]),
    position: positionOf(delivery.batch, index),
    ...(delivery.batch.meta === undefined ? {} : { meta: JSON.stringify([delivery.headers[index]]) }),
  };
}

function positionOf(batch: Batch, index: number): number {
  return batch.positions?.[index] ?? index;
}
