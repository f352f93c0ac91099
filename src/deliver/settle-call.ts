/** What the outcome of a handler call is written as, for each of its batches: one clause per outcome. */
import type { FailedBatch, OpenTransaction, PartialSettlement } from "../backend/backend.js";
import type { Batch } from "../batch/batch.js";
import { ackIn, LeaseLost } from "./atomic.js";
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
    case "settled":
      return noteSettled(params, call, outcome.said);
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

async function settlePartly(params: SettleParams, delivery: Delivery, outcome: PartialOutcome): Promise<void> {
  const { settler } = params;
  const { part, after } = settlementOf(params, delivery, outcome);
  const ours = part === undefined || (await settler.part(delivery.batch, part));
  if (!ours || after === undefined) return;
  if ("releaseMs" in after) await settler.release([delivery.batch], after.releaseMs);
  else await divide(settler, after.rest, after.failure);
}

/** What is written of a batch that is done in part, and what becomes of the rest after that. */
interface Settlement {
  readonly part?: Omit<PartialSettlement, "lease">;
  readonly after?: { readonly releaseMs: number } | { readonly rest: Delivery; readonly failure: Failure };
}

// Successes leave the row, what is given up dies, the rest stays in the same row; with one failure more if any of it failed.
// What failed its last time in one call with others does not die of it: it is divided, and each gets its last attempt alone (D4).
function settlementOf(params: SettleParams, delivery: Delivery, outcome: PartialOutcome): Settlement {
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
  if (rest === undefined) return { part: { dead } };
  if (failed.size > 0 && !exhausted) {
    const failure = failureOf(params, batch, [...failed.values()][0], delayMs);
    return { part: { dead, rest: restOf(rest), failure } };
  }
  const part = gone.size === 0 ? {} : { part: { dead, rest: restOf(rest) } };
  const [suspect] = together;
  if (!exhausted || suspect === undefined) return { ...part, after: { releaseMs: delayMs ?? 0 } };
  return { ...part, after: { rest, failure: failureOf(params, batch, failed.get(suspect), delayMs) } };
}

/** Settles an atomic call in its own transaction (D9): a single batch where it is partial. @throws LeaseLost */
export async function settleIn(
  params: SettleParams,
  transaction: OpenTransaction,
  call: Call,
  outcome: Outcome,
): Promise<void> {
  if (outcome.kind !== "partial") return await ackIn(transaction, call);
  const [delivery] = call.deliveries as readonly [Delivery];
  const { batch: lease } = delivery;
  const { part, after } = settlementOf(params, delivery, outcome);
  const ours = part === undefined || (await transaction.settling.settlePart({ lease, ...part })) !== undefined;
  // Never to be divided: with `each` no message fails together with others.
  const releaseMs = after !== undefined && "releaseMs" in after ? after.releaseMs : undefined;
  const released = releaseMs === undefined || (await transaction.settling.release([lease], releaseMs)).has(lease.id);
  if (!ours || !released) throw new LeaseLost(`batch ${lease.id} was lost before the commit`);
}

type Failure = Omit<FailedBatch, "lease">;

function failureOf({ definition }: SettleParams, { failures }: Batch, error: unknown, delayMs?: number): Failure {
  return { delayMs: delayMs ?? backoffMs(definition.settings.backoff, failures + 1), error: errorText(error) };
}

function noteFailure({ definition, instrument }: SettleParams, call: Call, error: unknown): void {
  instrument.emit("handlerFailed", { queue: definition.name, batchIds: batchIdsOf(call), error });
}

// What the transaction of an atomic call has written is told like everything else. Whether a batch waits, the poller must know.
function noteSettled(params: SettleParams, call: Call, said: Outcome): void {
  if (said.kind !== "partial") return;
  for (const error of new Set(said.failed.values())) noteFailure(params, call, error);
  for (const { batch } of call.deliveries) {
    params.instrument.emit("retried", { queue: batch.queue, batchId: batch.id });
  }
}
