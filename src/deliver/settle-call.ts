/** What the outcome of a handler call is written as, for each of its batches: one clause per outcome. */
import type { FailedBatch } from "../backend/backend.js";
import type { Batch } from "../batch/batch.js";
import { backoffMs } from "./backoff.js";
import { batchIdsOf, type Call, outcomePerBatch } from "./call.js";
import type { DeliverParams } from "./deliver.js";
import { type Delivery, restOf, singleOf, withoutMessages } from "./delivery.js";
import { divide, retryOrDivide } from "./division.js";
import { errorText, type Outcome, type PartialOutcome } from "./outcome.js";

type SettleParams = Pick<DeliverParams, "definition" | "settler" | "instrument" | "inFlight">;

/** Settles what is still ours. */
export async function settleCall(params: SettleParams, call: Call, outcome: Outcome): Promise<void> {
  const { settler, instrument, inFlight } = params;
  const ours = call.deliveries.filter(({ batch }) => !inFlight.isLost(batch));
  if (ours.length === 0) return;
  const batches = ours.map(({ batch }) => batch);
  switch (outcome.kind) {
    case "ack":
      return await settler.ack(batches);
    case "retry":
      noteFailure(params, call, outcome.error);
      return await retryOrDivide(settler, ours, ({ batch }) => {
        return failureOf(params, batch, outcome.error, outcome.delayMs);
      });
    case "partial":
      for (const error of new Set(outcome.failed.values())) noteFailure(params, call, error);
      return await settleParts(params, call, outcome);
    case "release":
      return await settler.release(batches, 0);
    case "postpone":
      await settler.release(batches, outcome.delayMs);
      for (const { queue, id: batchId } of batches) instrument.emit("postponed", { queue, batchId });
      return;
    case "reject": {
      const { message: error } = outcome.error;
      return await settler.deadLetter(batches.map((lease) => ({ lease, reason: "rejected", error })));
    }
  }
}

async function settleParts(params: SettleParams, call: Call, outcome: PartialOutcome): Promise<void> {
  const { settler, inFlight } = params;
  const parts = outcomePerBatch(call, outcome).filter(({ delivery }) => !inFlight.isLost(delivery.batch));
  const done = parts.filter((part) => part.outcome.kind === "ack").map(({ delivery }) => delivery.batch);
  const rest = parts.map(async ({ delivery, outcome }) => {
    if (outcome.kind === "partial") await settlePartly(params, delivery, outcome);
  });
  await Promise.all([settler.ack(done), ...rest]);
}

// Successes leave the row, what is given up dies, the rest stays in the same row; with one failure more if any of it failed.
// What failed its last time in one call with others does not die of it: it is divided, and each gets its last attempt alone (D4).
async function settlePartly(params: SettleParams, delivery: Delivery, outcome: PartialOutcome): Promise<void> {
  const { settler } = params;
  const { batch } = delivery;
  const { failed, together = new Set(), rejected, kept, delayMs } = outcome;
  const exhausted = batch.failures + 1 >= batch.maxAttempts;
  const deadOf = (reason: "attempts" | "rejected", index: number, error: string) => {
    return { ...singleOf(delivery, index), reason, error };
  };
  const dead = [...rejected].map(([index, error]) => deadOf("rejected", index, error.message));
  const given = exhausted ? [...failed].filter(([index]) => !together.has(index)) : [];
  dead.push(...given.map(([index, error]) => deadOf("attempts", index, errorText(error))));
  const gone = new Set(delivery.messages.keys());
  for (const index of kept) gone.delete(index);
  for (const index of exhausted ? together : failed.keys()) gone.delete(index);
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
  if (!ours) return;
  const [suspect] = together;
  if (!exhausted || suspect === undefined) return await settler.release([batch], delayMs ?? 0);
  await divide(settler, rest, failureOf(params, batch, failed.get(suspect), delayMs));
}

function failureOf(
  { definition }: SettleParams,
  { failures }: Batch,
  error: unknown,
  delayMs?: number,
): Omit<FailedBatch, "lease"> {
  return { delayMs: delayMs ?? backoffMs(definition.settings.backoff, failures + 1), error: errorText(error) };
}

function noteFailure({ definition, instrument }: SettleParams, call: Call, error: unknown): void {
  instrument.emit("handlerFailed", { queue: definition.name, batchIds: batchIdsOf(call), error });
}
