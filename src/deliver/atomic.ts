/**
 * A handler's call as one transaction (D9): what the handler writes, what it publishes, and the removal of its batches commit
 * together, or not at all. The removal is the last statement before the commit and carries the fence: a lease lost meanwhile
 * rolls everything back.
 */
import type { OpenTransaction } from "../backend/backend.js";
import type { SqlExecutor } from "../transaction/executors.js";
import { currentScope, runInRoot, type Scope } from "../transaction/scope.js";
import { runSavepoint } from "../transaction/transaction.js";
import { batchIdsOf, type Call } from "./call.js";
import { type Outcome, outcomeOfError } from "./outcome.js";

/** Runs the body in a transaction of the client, in which publishing joins; `settle` runs right before its commit. */
export type Atomically = (
  body: (tx: SqlExecutor) => Promise<void>,
  settle: (transaction: OpenTransaction) => Promise<void>,
) => Promise<void>;

/** Ends the transaction of a call that did not succeed, with what it came to. */
class RolledBack extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super("the handler's transaction is rolled back");
    this.outcome = outcome;
  }
}

export class LeaseLost extends Error {}

/**
 * @param handleIn - calls the handler in the transaction
 * @param settleIn - writes what the call came to, in the transaction; throws {@link LeaseLost}
 * @returns `settled` where that is written, otherwise what is still to be written
 */
export async function handleAtomically(
  atomically: Atomically,
  keepsPart: boolean,
  handleIn: (tx: SqlExecutor) => Promise<Outcome>,
  settleIn: (transaction: OpenTransaction, outcome: Outcome) => Promise<void>,
): Promise<Outcome> {
  let said: Outcome = { kind: "release" };
  try {
    await runInRoot(() =>
      atomically(
        async (tx) => {
          said = await handleIn(tx);
          const commits = said.kind === "ack" || (keepsPart && said.kind === "partial");
          if (!commits) throw new RolledBack(wholeOf(said));
        },
        (transaction) => settleIn(transaction, said),
      ),
    );
    return { kind: "settled", said };
  } catch (error) {
    if (error instanceof RolledBack) return error.outcome;
    // What is still ours of the call is given back: nobody failed.
    if (error instanceof LeaseLost) return { kind: "release" };
    return outcomeOfError(error, undefined);
  }
}

/** One message of `each`: what it writes is undone when it throws, and the others' stays. */
export async function inSavepoint<T>(body: (tx: SqlExecutor) => Promise<T> | T): Promise<T> {
  return await runSavepoint(currentScope() as Scope, body);
}

// A batch handler's transaction is all or nothing: the indexes it reports as failed fail the call.
function wholeOf(outcome: Outcome): Outcome {
  if (outcome.kind !== "partial") return outcome;
  const { failed, rejected, delayMs } = outcome;
  const [error] = failed.values();
  if (failed.size > 0) return { kind: "retry", error, ...(delayMs === undefined ? {} : { delayMs }) };
  const [letter] = rejected.values();
  return letter === undefined ? { kind: "release" } : { kind: "reject", error: letter };
}

/** Deletes the batches of a call in its transaction. @throws LeaseLost */
export async function ackIn({ settling }: OpenTransaction, call: Call): Promise<void> {
  const leases = call.deliveries.map(({ batch }) => batch);
  const done = await settling.ack(leases);
  const lost = batchIdsOf(call).filter((id) => !done.has(id));
  if (lost.length > 0) throw new LeaseLost(`batches ${lost.join(", ")} were lost before the commit`);
}
