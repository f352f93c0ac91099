/** A claimed batch opened for its handler: decoded, checked, and what does not fit put aside (D6). */
import { type Batch, messageId } from "../batch/batch.js";
import { decodeMeta, decodePayload, type Headers } from "../batch/payload.js";
import { explain } from "../queue/explain.js";
import type { QueueDefinition } from "../queue/queue.js";
import type { Settler } from "./settle.js";

/** What the handler gets. The lists are as long as each other. */
export interface Delivery {
  readonly batch: Batch;
  readonly messages: readonly unknown[];
  readonly headers: readonly Headers[];
  readonly ids: readonly string[];
}

/** Undefined when nothing is left to handle: the payload was no array, every message was invalid, or the batch was lost. */
export async function openDelivery(
  definition: QueueDefinition,
  batch: Batch,
  settler: Settler,
): Promise<Delivery | undefined> {
  const messages = decodePayload(batch.payload);
  if (messages === undefined) {
    await settler.deadLetter(batch, { reason: "decode", error: "the payload is no JSON array" });
    return undefined;
  }
  const headers = decodeMeta(batch.meta, messages.length);
  const ids = messages.map((_, index) => messageId(batch, index));
  const faults = faultsOf(definition, messages);
  if (faults.size === 0) return { batch, messages, headers, ids };
  return await buryInvalid({ batch, messages, headers, ids }, faults, settler);
}

function faultsOf(definition: QueueDefinition, messages: readonly unknown[]): ReadonlyMap<number, string> {
  const faults = new Map<number, string>();
  for (const [index, message] of messages.entries()) {
    const fault = faultOf(definition, message);
    if (fault !== undefined) faults.set(index, fault);
  }
  return faults;
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

async function buryInvalid(delivery: Delivery, faults: ReadonlyMap<number, string>, settler: Settler) {
  const rest = withoutMessages(delivery, new Set(faults.keys()));
  const dead = [...faults].map(([index, error]) => ({
    ...singleOf(delivery, index),
    reason: "schema" as const,
    error,
  }));
  const ours = await settler.part(delivery.batch, { dead, ...(rest === undefined ? {} : { rest: restOf(rest) }) });
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
