/** The delivery path on one screen: hold -> decode and validate -> handle -> outcome -> settle. */
import type { Backend } from "../backend/backend.js";
import type { Batch } from "../batch/batch.js";
import type { HandledStatus, Instrument, Logger } from "../instrument.js";
import type { QueueDefinition } from "../queue/queue.js";
import { monotonicMs } from "../time.js";
import { backoffMs } from "./backoff.js";
import { batchIdsOf, type Call, callOf } from "./call.js";
import { type Delivery, openDeliveries } from "./delivery.js";
import { divide, isSuspect } from "./division.js";
import { EachOutcomes } from "./each-outcomes.js";
import type { Finished } from "./finished.js";
import { type Handler, handle, timedOut } from "./handle.js";
import type { InFlight } from "./in-flight.js";
import { excused, type Outcome, withoutBuried } from "./outcome.js";
import type { Settler } from "./settle.js";
import { settleCall, settleIn } from "./settle-call.js";

export interface DeliverParams {
  readonly definition: QueueDefinition;
  readonly handler: Handler;
  readonly inFlight: InFlight;
  readonly settler: Settler;
  readonly finished: Finished;
  readonly instrument: Instrument;
  readonly logger: Logger;
  readonly backend: Pick<Backend, "progress">;
}

/**
 * Delivers the claimed batches of one handler call. Never rejects. Resolves when they are settled and the handler has ended.
 * The handler is called before this returns where nothing is in its way: every turn of the loop counts in the latency.
 *
 * @param turn - what must have ended before it begins
 * @param onHandled - called when the handler has ended, while the outcome is still to be written
 */
export async function deliver(
  params: DeliverParams,
  batches: readonly Batch[],
  turn: Promise<unknown> | undefined,
  onHandled: () => void,
): Promise<void> {
  const { definition, inFlight, settler, instrument } = params;
  const abort = new AbortController();
  for (const batch of batches) inFlight.hold(batch, definition.settings.orphanAfterMs, abort);
  const held = () => batches.filter((batch) => !inFlight.isLost(batch));
  try {
    if (turn !== undefined) await Promise.race([turn, aborted(abort.signal)]);
    if (abort.signal.aborted) return await settler.release(held(), 0);
    const opened = openDeliveries(definition, batches, settler);
    const deliveries = opened instanceof Promise ? await opened : opened;
    const [first] = deliveries;
    if (first === undefined) return;
    // It has crashed before, so it shares its call with nothing.
    if (isSuspect(first)) return await divide(settler, first);
    const call = callOf(deliveries);
    const { outcome, ended } = await runHandler(params, call, abort);
    void ended.then(onHandled);
    // What is lost, or was released by a forced stop, is left out: nothing this handler says about it counts any more.
    await settleCall(params, call, outcome);
    for (const batch of batches) inFlight.letGo(batch);
    await ended;
  } catch (error) {
    // Nothing above is meant to throw. Should it all the same, the batches must not stay in flight with nobody at work on them.
    instrument.emit("error", { part: "delivery", error });
    await settler.release(held(), backoffMs(definition.settings.backoff, 1));
  } finally {
    for (const batch of batches) inFlight.letGo(batch);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

const handlerEnded = "the handler has ended";

async function runHandler(params: DeliverParams, call: Call, abort: AbortController) {
  const { definition, handler, instrument, logger, inFlight } = params;
  const { timeoutMs, maxBatchMessages, orderBy } = definition.settings;
  const startedAt = monotonicMs();
  const over = new AbortController();
  const outcomes = outcomesOf(handler, call);
  const unwatch = outcomes && params.finished.watch(call.deliveries[0] as Delivery, outcomes);
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = handle(
    {
      handler,
      signal: abort.signal,
      onStart: begin,
      logger,
      maxMessages: maxBatchMessages,
      settleIn: (transaction, call, outcome) => settleIn(params, transaction, call, outcome),
      progress: params.backend.progress,
      inOrder: orderBy?.onFailure,
      outcomes,
    },
    call,
  ).finally(() => {
    // With a reason of its own: without one every call would make a DOMException, stack and all.
    over.abort(handlerEnded);
    // A batch that was aborted before its turn has no first call: its time is over all the same.
    begin();
  });
  const timeUp = timeoutMs === undefined ? undefined : begun.then(() => timedOut(timeoutMs, abort, over.signal));
  const error = await (timeUp === undefined
    ? ended.then(() => undefined)
    : Promise.race([ended.then(() => timeUp), timeUp]));
  if (error !== undefined && !over.signal.aborted) noteOverdue(params, ended);
  // With `each`, what is done is done: only the messages that had not ended are late.
  const counts = error === undefined || (handler.kind === "each" && over.signal.aborted);
  const late: Outcome = { kind: "retry", error };
  const said = counts ? await ended : (outcomes?.result(late) ?? late);
  const buried = await unwatch?.();
  const ours = isExcused(inFlight, call) ? excused(said) : said;
  const outcome = buried === undefined ? ours : withoutBuried(ours, buried);
  instrument.emit("handled", {
    queue: definition.name,
    batchIds: batchIdsOf(call),
    status: statusOf[outcome.kind],
    durationMs: monotonicMs() - startedAt,
  });
  return { outcome, ended };
}

// Of a transaction nothing is settled before its end; of a single message, nothing but its outcome.
function outcomesOf({ kind, atomically }: Handler, { messages }: Call): EachOutcomes | undefined {
  return kind === "each" && atomically === undefined && messages.length > 1
    ? new EachOutcomes(messages.length)
    : undefined;
}

// It keeps its slot until it ends (D11).
function noteOverdue({ definition: { name: queue }, instrument }: DeliverParams, ended: Promise<unknown>): void {
  instrument.emit("overdue", { queue, handlers: 1 });
  void ended.then(() => instrument.emit("overdue", { queue, handlers: -1 }));
}

// One batch lost aborts the call that it shares with others: what the handler throws then is no failure of theirs.
function isExcused(inFlight: InFlight, { deliveries }: Call): boolean {
  return deliveries.some(({ batch }) => inFlight.isExcused(batch) || (deliveries.length > 1 && inFlight.isLost(batch)));
}

const statusOf: Record<Outcome["kind"], HandledStatus> = {
  ack: "ok",
  settled: "ok",
  retry: "failed",
  partial: "partial",
  release: "released",
  postpone: "postponed",
  reject: "rejected",
};
