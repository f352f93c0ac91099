/** The delivery path on one screen: hold -> decode and validate -> handle -> outcome -> settle. */
import type { Batch } from "../batch/batch.js";
import type { HandledStatus, Instrument, Logger } from "../instrument.js";
import type { QueueDefinition } from "../queue/queue.js";
import { monotonicMs } from "../time.js";
import { backoffMs } from "./backoff.js";
import { type Delivery, openDelivery, restOf, singleOf, withoutMessages } from "./delivery.js";
import { divide, isSuspect, retryOrDivide } from "./division.js";
import { type Handler, handle, timedOut } from "./handle.js";
import type { InFlight } from "./in-flight.js";
import { errorText, excused, type Outcome, type PartialOutcome } from "./outcome.js";
import type { Settler } from "./settle.js";

export interface DeliverParams {
  readonly definition: QueueDefinition;
  readonly handler: Handler;
  readonly inFlight: InFlight;
  readonly settler: Settler;
  readonly instrument: Instrument;
  readonly logger: Logger;
}

/**
 * Delivers one claimed batch. Never rejects. Resolves when it is settled and its handler has ended.
 *
 * @param turn - what must have ended before it begins
 * @param onHandled - called when the handler has ended, while the outcome is still to be written
 */
export async function deliver(
  params: DeliverParams,
  batch: Batch,
  turn: Promise<unknown>,
  onHandled: () => void,
): Promise<void> {
  const { definition, inFlight, settler, instrument } = params;
  const abort = inFlight.hold(batch, definition.settings.orphanAfterMs);
  try {
    await Promise.race([turn, aborted(abort.signal)]);
    if (abort.signal.aborted) return inFlight.isLost(batch) ? undefined : await settler.release(batch, 0);
    const delivery = await openDelivery(definition, batch, settler);
    if (delivery === undefined) return;
    if (isSuspect(delivery)) return await divide(settler, delivery);
    const { outcome, ended } = await runHandler(params, delivery, abort);
    void ended.then(onHandled);
    // Lost, or released by a forced stop: nothing this handler says counts any more.
    if (!inFlight.isLost(batch)) await settle(params, delivery, outcome);
    inFlight.letGo(batch);
    await ended;
  } catch (error) {
    // Nothing above is meant to throw. Should it all the same, the batch must not stay in flight with nobody at work on it.
    instrument.emit("error", { part: "delivery", error });
    if (!inFlight.isLost(batch)) await settler.release(batch, backoffMs(definition.settings.backoff, 1));
  } finally {
    inFlight.letGo(batch);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

async function runHandler(params: DeliverParams, delivery: Delivery, abort: AbortController) {
  const { definition, handler, instrument, logger, inFlight } = params;
  const { timeoutMs, maxBatchMessages } = definition.settings;
  const startedAt = monotonicMs();
  const over = new AbortController();
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = handle(
    { handler, signal: abort.signal, onStart: begin, logger, maxMessages: maxBatchMessages },
    delivery,
  ).finally(() => {
    over.abort();
    // A batch that was aborted before its turn has no first call: its time is over all the same.
    begin();
  });
  const late = timeoutMs === undefined ? undefined : begun.then(() => timedOut(timeoutMs, abort, over.signal));
  const error = await (late === undefined ? ended.then(() => undefined) : Promise.race([ended.then(() => late), late]));
  // With `each`, what is done is done: only the messages that had not ended are late.
  const counts = error === undefined || (handler.kind === "each" && over.signal.aborted);
  const said: Outcome = counts ? await ended : { kind: "retry", error };
  const outcome = inFlight.isExcused(delivery.batch) ? excused(said) : said;
  instrument.emit("handled", {
    queue: definition.name,
    batchIds: [delivery.batch.id],
    status: statusOf[outcome.kind],
    durationMs: monotonicMs() - startedAt,
  });
  return { outcome, ended };
}

const statusOf: Record<Outcome["kind"], HandledStatus> = {
  ack: "ok",
  retry: "failed",
  partial: "partial",
  release: "released",
  postpone: "postponed",
  reject: "rejected",
};

// One clause per outcome.
async function settle(params: DeliverParams, delivery: Delivery, outcome: Outcome): Promise<void> {
  const { settler, instrument } = params;
  const { batch } = delivery;
  switch (outcome.kind) {
    case "ack":
      return await settler.ack(batch);
    case "retry":
      noteFailure(params, delivery, outcome.error);
      return await retryOrDivide(settler, delivery, failureOf(params, batch, outcome.error, outcome.delayMs));
    case "partial":
      for (const error of new Set(outcome.failed.values())) noteFailure(params, delivery, error);
      return await settlePartly(params, delivery, outcome);
    case "release":
      return await settler.release(batch, 0);
    case "postpone":
      await settler.release(batch, outcome.delayMs);
      return instrument.emit("postponed", { queue: batch.queue, batchId: batch.id });
    case "reject":
      return await settler.deadLetter(batch, { reason: "rejected", error: outcome.error.message });
  }
}

// Successes leave the row, what is given up dies, the rest stays in the same row; with one failure more if any of it failed.
async function settlePartly(params: DeliverParams, delivery: Delivery, outcome: PartialOutcome): Promise<void> {
  const { settler } = params;
  const { batch } = delivery;
  const { failed, rejected, kept, delayMs } = outcome;
  const exhausted = batch.failures + 1 >= batch.maxAttempts;
  const deadOf = (reason: "attempts" | "rejected", index: number, error: string) => {
    return { ...singleOf(delivery, index), reason, error };
  };
  const dead = [...rejected].map(([index, error]) => deadOf("rejected", index, error.message));
  if (exhausted) dead.push(...[...failed].map(([index, error]) => deadOf("attempts", index, errorText(error))));
  const gone = new Set(delivery.messages.keys());
  for (const index of kept) gone.delete(index);
  if (!exhausted) for (const index of failed.keys()) gone.delete(index);
  const rest = withoutMessages(delivery, gone);
  if (rest === undefined) {
    await settler.part(batch, { dead });
    return;
  }
  if (failed.size > 0 && !exhausted) {
    const failure = failureOf(params, batch, [...failed.values()][0], delayMs);
    await settler.part(batch, { dead, rest: restOf(rest), failure });
    return;
  }
  const ours = gone.size === 0 || (await settler.part(batch, { dead, rest: restOf(rest) }));
  if (ours) await settler.release(batch, delayMs ?? 0);
}

function failureOf({ definition }: DeliverParams, { failures }: Batch, error: unknown, delayMs?: number) {
  return { delayMs: delayMs ?? backoffMs(definition.settings.backoff, failures + 1), error: errorText(error) };
}

function noteFailure({ definition, instrument }: DeliverParams, { batch }: Delivery, error: unknown): void {
  instrument.emit("handlerFailed", { queue: definition.name, batchIds: [batch.id], error });
}
