/** Calls the handler and says how it ended. Its `try` holds the handler's call and nothing else. */
import type { LimitFunction } from "p-limit";
import type { OpenTransaction } from "../backend/backend.js";
import type { ProgressStore } from "../backend/progress-store.js";
import type { Logger } from "../instrument.js";
import { pause } from "../time.js";
import type { SqlExecutor } from "../transaction/executors.js";
import { runInRoot } from "../transaction/scope.js";
import { type Atomically, handleAtomically, inSavepoint } from "./atomic.js";
import { batchIdsOf, type Call } from "./call.js";
import { progressOf } from "./call-progress.js";
import type { Delivery } from "./delivery.js";
import { EachOutcomes } from "./each-outcomes.js";
import type { BatchContext, BatchHandler, MessageHandler } from "./handler.js";
import { checkDelay, Gathered, type Outcome, outcomeOfError, outcomeOfResult } from "./outcome.js";

/** A registered handler, of one of its two kinds. */
export type Handler =
  | { readonly kind: "batch"; readonly call: BatchHandler<unknown>; readonly atomically?: Atomically }
  | {
      readonly kind: "each";
      readonly call: MessageHandler<unknown>;
      readonly limit: LimitFunction;
      readonly atomically?: Atomically;
    };

export interface HandleParams {
  readonly handler: Handler;
  readonly signal: AbortSignal;
  /** Called when the first call begins: waiting for a turn is no handler's time. */
  readonly onStart: () => void;
  readonly logger: Logger;
  readonly progress: ProgressStore;
  /** Messages of one call; a larger batch (raw SQL, a lowered setting) is sliced. */
  readonly maxMessages: number;
  /** Writes the outcome of an atomic call in its transaction. */
  readonly settleIn: (transaction: OpenTransaction, call: Call, outcome: Outcome) => Promise<void>;
  /** The transaction the call runs in. */
  readonly tx?: SqlExecutor | undefined;
  /** Of a queue with `orderBy`: calls come one after another, and with `block` none comes after a failed one (J10). */
  readonly inOrder?: "block" | "skip" | undefined;
  /** Where an `each` call that is no transaction notes how far it has come. */
  readonly outcomes?: EachOutcomes | undefined;
}

export async function handle(params: HandleParams, call: Call): Promise<Outcome> {
  const { atomically, kind } = params.handler;
  if (atomically === undefined) return await handleCall(params, call);
  const handleIn = (tx: SqlExecutor) => handleCall({ ...params, tx }, call);
  return await handleAtomically(atomically, kind === "each", handleIn, (transaction, outcome) => {
    return params.settleIn(transaction, call, outcome);
  });
}

async function handleCall(params: HandleParams, call: Call): Promise<Outcome> {
  if (params.handler.kind === "each") return await handleEach(params, params.handler, call);
  const { messages } = call;
  if (messages.length <= params.maxMessages)
    return await handleSlice(params, params.handler.call, call, 0, messages.length);
  return await handleSlices(params, params.handler.call, call);
}

// A throw in one slice does not keep the others from running; what it fails is its own messages.
async function handleSlices(params: HandleParams, handler: BatchHandler<unknown>, call: Call): Promise<Outcome> {
  const gathered = new Gathered();
  const count = call.messages.length;
  let blocked = false;
  for (let from = 0; from < count; from += params.maxMessages) {
    const to = Math.min(from + params.maxMessages, count);
    const isOver = params.signal.aborted || blocked;
    const outcome = isOver ? notStarted : await handleSlice(params, handler, call, from, to);
    gathered.add(outcome, from, to);
    blocked ||= blocks(params, outcome);
  }
  return gathered.result(count);
}

/** Whether what is behind has to wait for this. What is given up lets the next one come. */
function blocks({ inOrder }: HandleParams, { kind }: Outcome): boolean {
  return inOrder === "block" && kind !== "ack" && kind !== "reject";
}

// When the signal is aborted first: it has failed nothing, but it is not done either.
const notStarted: Outcome = { kind: "release" };

async function handleSlice(
  params: HandleParams,
  handler: BatchHandler<unknown>,
  call: Call,
  from: number,
  to: number,
): Promise<Outcome> {
  const wish: Wish = {};
  const context: BatchContext = {
    ...callContext(params, call, wish),
    ids: call.ids.slice(from, to),
    headers: call.headers.slice(from, to),
    publishedAt: call.publishedAt.slice(from, to),
  };
  params.onStart();
  try {
    const run = () => handler(call.messages.slice(from, to), context);
    const result = await (params.tx === undefined ? runInRoot(run) : run());
    return outcomeOfResult(result, to - from, wish.retryAfterMs);
  } catch (error) {
    return outcomeOfError(error, wish.retryAfterMs);
  }
}

async function handleEach(
  params: HandleParams,
  { call: handler, limit }: Extract<Handler, { kind: "each" }>,
  call: Call,
): Promise<Outcome> {
  const outcomes = params.outcomes ?? new EachOutcomes(call.messages.length);
  let blocked = false;
  // The limit is the listener's, shared by its batches, first come, first served: calls never exceed `concurrency` (D7).
  const handleNext = async (_: unknown, index: number) => {
    if (params.signal.aborted || blocked) return;
    params.onStart();
    outcomes.begin(index);
    const outcome = await handleOne(params, handler, call, index);
    outcomes.end(index, outcome);
    blocked ||= blocks(params, outcome);
  };
  // In a transaction one after another, within one turn of the limit: its savepoints cannot overlap.
  if (params.tx !== undefined)
    await limit(() => inOrder(call.messages.keys(), (index) => handleNext(undefined, index)));
  else if (params.inOrder === undefined) await limit.map(call.messages, handleNext);
  else for (const index of call.messages.keys()) await limit(handleNext, undefined, index);
  return outcomes.result();
}

async function inOrder(indexes: Iterable<number>, step: (index: number) => Promise<void>): Promise<void> {
  for (const index of indexes) await step(index);
}

async function handleOne(
  params: HandleParams,
  handler: MessageHandler<unknown>,
  call: Call,
  index: number,
): Promise<Outcome> {
  const wish: Wish = {};
  try {
    const run = (tx?: SqlExecutor) =>
      handler(call.messages[index], messageContext({ ...params, tx }, call, index, wish));
    await (params.tx === undefined ? runInRoot(() => run()) : inSavepoint(run));
    return { kind: "ack" };
  } catch (error) {
    return outcomeOfError(error, wish.retryAfterMs);
  }
}

interface Wish {
  retryAfterMs?: number;
}

function callContext({ signal, logger, progress, tx }: HandleParams, call: Call, wish: Wish) {
  // Batches that share a call are all at their first attempt.
  const { batch } = call.deliveries[0] as Delivery;
  return {
    queue: batch.queue,
    attempt: batch.failures + 1,
    batchIds: batchIdsOf(call),
    signal,
    log: logger,
    ...(tx === undefined ? {} : { tx }),
    progress: progressOf(
      progress,
      call.deliveries.map(({ batch }) => batch),
    ),
    retryAfter: (ms: number) => {
      checkDelay("retryAfter", ms);
      wish.retryAfterMs = ms;
    },
  };
}

function messageContext(params: HandleParams, call: Call, index: number, wish: Wish) {
  return {
    ...callContext(params, call, wish),
    id: call.ids[index] as string,
    headers: call.headers[index] ?? {},
    publishedAt: call.publishedAt[index] as Date,
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
