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
import { errorText, type Outcome } from "./outcome.js";
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
 * Delivers one claimed batch. Never rejects. Resolves when it is settled and its handler has ended: the slot is free.
 *
 * @param turn - what must have ended before it begins
 */
export async function deliver(params: DeliverParams, batch: Batch, turn: Promise<unknown>): Promise<void> {
  const { definition, inFlight, settler, instrument } = params;
  const abort = inFlight.hold(batch, definition.settings.orphanAfterMs);
  try {
    await Promise.race([turn, aborted(abort.signal)]);
    if (abort.signal.aborted) return inFlight.isLost(batch) ? undefined : await settler.release(batch, 0);
    const delivery = await openDelivery(definition, batch, settler);
    if (delivery === undefined) return;
    if (isSuspect(delivery)) return await divide(settler, delivery);
    const { outcome, ended } = await runHandler(params, delivery, abort);
    // After a forced stop the batch has been released: nothing this handler says counts any more.
    if (!inFlight.isLost(batch)) await settle(params, delivery, outcome);
    inFlight.letGo(batch);
    await ended;
  } catch (error) {
    instrument.emit("error", { part: "delivery", error });
  } finally {
    inFlight.letGo(batch);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

async function runHandler(params: DeliverParams, delivery: Delivery, abort: AbortController) {
  const { definition, handler, instrument, logger } = params;
  const { timeoutMs, maxBatchMessages } = definition.settings;
  const startedAt = monotonicMs();
  const over = new AbortController();
  const ended = handle({ handler, signal: abort.signal, logger, maxMessages: maxBatchMessages }, delivery).finally(() =>
    over.abort(),
  );
  const late = timeoutMs === undefined ? undefined : timedOut(timeoutMs, abort, over.signal);
  const error = await (late === undefined ? ended.then(() => undefined) : Promise.race([ended.then(() => late), late]));
  const outcome: Outcome = error === undefined ? await ended : { kind: "retry", error };
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
  postpone: "postponed",
  reject: "rejected",
};

// One clause per outcome.
async function settle(params: DeliverParams, delivery: Delivery, outcome: Outcome): Promise<void> {
  const { settler, instrument, inFlight, definition } = params;
  const { batch } = delivery;
  switch (outcome.kind) {
    case "ack":
      return await settler.ack(batch);
    case "retry":
      if (inFlight.isStopping) return await settler.release(batch, 0);
      noteFailure(params, delivery, outcome.error);
      return await retryOrDivide(settler, delivery, {
        delayMs: outcome.delayMs ?? backoffMs(definition.settings.backoff, batch.failures + 1),
        error: errorText(outcome.error),
      });
    case "partial":
      for (const error of new Set(outcome.failed.values())) noteFailure(params, delivery, error);
      return await settlePartly(params, delivery, outcome);
    case "postpone":
      await settler.release(batch, outcome.delayMs);
      return instrument.emit("postponed", { queue: batch.queue, batchId: batch.id });
    case "reject":
      return await settler.deadLetter(batch, { reason: "rejected", error: outcome.error.message });
  }
}

// Successes leave the row, what has no attempt left dies, the rest stays in the same row with one failure more.
async function settlePartly(
  { definition, settler }: DeliverParams,
  delivery: Delivery,
  { failed, delayMs }: Extract<Outcome, { kind: "partial" }>,
): Promise<void> {
  const { batch } = delivery;
  const exhausted = batch.failures + 1 >= batch.maxAttempts;
  const dead = exhausted
    ? [...failed].map(([index, error]) => ({
        ...singleOf(delivery, index),
        reason: "attempts" as const,
        error: errorText(error),
      }))
    : [];
  const gone = new Set(delivery.messages.keys());
  if (!exhausted) for (const index of failed.keys()) gone.delete(index);
  const rest = withoutMessages(delivery, gone);
  if (rest === undefined) {
    await settler.part(batch, { dead });
    return;
  }
  const failure = {
    delayMs: delayMs ?? backoffMs(definition.settings.backoff, batch.failures + 1),
    error: errorText([...failed.values()][0]),
  };
  await settler.part(batch, { dead, rest: restOf(rest), failure });
}

function noteFailure({ definition, instrument }: DeliverParams, { batch }: Delivery, error: unknown): void {
  instrument.emit("handlerFailed", { queue: definition.name, batchIds: [batch.id], error });
}
