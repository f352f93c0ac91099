/** Calls the handler and says how it ended. Its `try` holds the handler's call and nothing else. */
import type { LimitFunction } from "p-limit";
import type { Logger } from "../instrument.js";
import { pause } from "../time.js";
import { runInRoot } from "../transaction/scope.js";
import type { Delivery } from "./delivery.js";
import type { BatchContext, BatchHandler, MessageHandler } from "./handler.js";
import { checkDelay, Gathered, type Outcome, outcomeOfError, outcomeOfResult } from "./outcome.js";

/** A registered handler, of one of its two kinds. */
export type Handler =
  | { readonly kind: "batch"; readonly call: BatchHandler<unknown> }
  | { readonly kind: "each"; readonly call: MessageHandler<unknown>; readonly limit: LimitFunction };

export interface HandleParams {
  readonly handler: Handler;
  readonly signal: AbortSignal;
  /** Called when the first call begins: waiting for a turn is no handler's time. */
  readonly onStart: () => void;
  readonly logger: Logger;
  /** Messages of one call; a larger batch (raw SQL, a lowered setting) is sliced. */
  readonly maxMessages: number;
}

export async function handle(params: HandleParams, delivery: Delivery): Promise<Outcome> {
  if (params.handler.kind === "each") return await handleEach(params, params.handler, delivery);
  const { messages } = delivery;
  if (messages.length <= params.maxMessages)
    return await handleSlice(params, params.handler.call, delivery, 0, messages.length);
  return await handleSlices(params, params.handler.call, delivery);
}

// A throw in one slice does not keep the others from running; what it fails is its own messages.
async function handleSlices(params: HandleParams, call: BatchHandler<unknown>, delivery: Delivery): Promise<Outcome> {
  const gathered = new Gathered();
  const count = delivery.messages.length;
  for (let from = 0; from < count; from += params.maxMessages) {
    const to = Math.min(from + params.maxMessages, count);
    const outcome = params.signal.aborted ? notStarted : await handleSlice(params, call, delivery, from, to);
    gathered.add(outcome, from, to);
  }
  return gathered.result(count);
}

// When the signal is aborted first: it has failed nothing, but it is not done either.
const notStarted: Outcome = { kind: "release" };

async function handleSlice(
  params: HandleParams,
  call: BatchHandler<unknown>,
  delivery: Delivery,
  from: number,
  to: number,
): Promise<Outcome> {
  const wish: Wish = {};
  const context: BatchContext = {
    ...callContext(params, delivery, wish),
    ids: delivery.ids.slice(from, to),
    headers: delivery.headers.slice(from, to),
    publishedAt: Array.from({ length: to - from }, () => delivery.batch.publishedAt),
  };
  params.onStart();
  try {
    const result = await runInRoot(() => call(delivery.messages.slice(from, to), context));
    return outcomeOfResult(result, to - from, wish.retryAfterMs);
  } catch (error) {
    return outcomeOfError(error, wish.retryAfterMs);
  }
}

async function handleEach(
  params: HandleParams,
  { call, limit }: Extract<Handler, { kind: "each" }>,
  delivery: Delivery,
): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  const count = delivery.messages.length;
  // The limit is the listener's, shared by its batches, first come, first served: calls never exceed `concurrency` (D7).
  const handleNext = async (_: unknown, index: number) => {
    if (params.signal.aborted) return;
    params.onStart();
    outcomes[index] = await handleOne(params, call, delivery, index);
  };
  await limit.map(delivery.messages, handleNext);
  if (count === 1) return outcomes[0] ?? notStarted;
  const gathered = new Gathered();
  for (let index = 0; index < count; index += 1) gathered.add(outcomes[index] ?? notStarted, index, index + 1);
  return gathered.result(count);
}

async function handleOne(
  params: HandleParams,
  call: MessageHandler<unknown>,
  delivery: Delivery,
  index: number,
): Promise<Outcome> {
  const wish: Wish = {};
  try {
    await runInRoot(() => call(delivery.messages[index], messageContext(params, delivery, index, wish)));
    return { kind: "ack" };
  } catch (error) {
    return outcomeOfError(error, wish.retryAfterMs);
  }
}

interface Wish {
  retryAfterMs?: number;
}

function callContext({ signal, logger }: HandleParams, { batch }: Delivery, wish: Wish) {
  return {
    queue: batch.queue,
    attempt: batch.failures + 1,
    batchIds: [batch.id],
    signal,
    log: logger,
    retryAfter: (ms: number) => {
      checkDelay("retryAfter", ms);
      wish.retryAfterMs = ms;
    },
  };
}

function messageContext(params: HandleParams, delivery: Delivery, index: number, wish: Wish) {
  return {
    ...callContext(params, delivery, wish),
    id: delivery.ids[index] as string,
    headers: delivery.headers[index] ?? {},
    publishedAt: delivery.batch.publishedAt,
  };
}

/** After its time a handler is told to stop; 5 s later its failure counts, whether it has ended or not (D11). */
export async function timedOut(
  timeoutMs: number,
  abort: AbortController,
  ended: AbortSignal,
): Promise<Error | undefined> {
  await pause(timeoutMs, ended);
  if (ended.aborted) return undefined;
  const error = new Error(`the handler took longer than timeoutMs (${timeoutMs})`);
  abort.abort(error);
  await pause(5_000, ended);
  return error;
}
