/** `mq.transaction`: publishing collects, and is written by the transaction itself right before its commit (T1 to T7). */
import type { Backend, OpenTransaction, TransactionOptions } from "../backend/backend.js";
import type { Instrument } from "../instrument.js";
import type { SqlExecutor } from "./executors.js";
import { runInRoot, runInScope, type Scope } from "./scope.js";

export interface TransactionParams {
  readonly backend: Backend;
  readonly instrument: Instrument;
  /** The client: scopes of another client are not joined. */
  readonly client: object;
  /** Writes what was collected through the transaction; the queues it wrote to. */
  readonly flush: (scope: Scope) => Promise<readonly string[]>;
  readonly onCommitted: (queues: readonly string[]) => void;
}

/** The outermost transaction: begins, runs, writes, commits, wakes, then runs the hooks in order. */
export async function runTransaction<T>(
  params: TransactionParams,
  options: TransactionOptions,
  body: (tx: SqlExecutor) => Promise<T> | T,
): Promise<T> {
  const transaction = await params.backend.begin(options);
  const scope = openScope(params.client, transaction);
  let result: T;
  let queues: readonly string[];
  try {
    result = await runInScope(scope, () => body(transaction.executor));
    await scope.tail;
    queues = await params.flush(scope);
    await transaction.commit();
  } catch (error) {
    scope.state = "rolledBack";
    await transaction.rollback();
    throw error;
  }
  scope.state = "committed";
  params.onCommitted(queues);
  await runHooks(params.instrument, scope.hooks);
  return result;
}

/** A transaction inside a transaction: a savepoint. Those of one parent run one after another. */
export async function runSavepoint<T>(parent: Scope, body: (tx: SqlExecutor) => Promise<T> | T): Promise<T> {
  const turn = parent.tail.then(() => runOneSavepoint(parent, body));
  parent.tail = turn.catch(() => undefined);
  return await turn;
}

async function runOneSavepoint<T>(parent: Scope, body: (tx: SqlExecutor) => Promise<T> | T): Promise<T> {
  const { transaction } = parent;
  parent.counter.value += 1;
  const name = `postrider_${parent.counter.value}`;
  const before = new Map(parent.shared);
  await transaction.savepoint(name);
  const scope = openScope(parent.client, transaction, parent);
  try {
    const result = await runInScope(scope, () => body(transaction.executor));
    await scope.tail;
    await transaction.releaseSavepoint(name);
    scope.state = "committed";
    parent.collected.push(...scope.collected);
    parent.hooks.push(...scope.hooks);
    return result;
  } catch (error) {
    scope.state = "rolledBack";
    restore(parent.shared, before);
    // Should this fail, the connection is broken, and the outer commit says so.
    await transaction.rollbackTo(name).catch(() => undefined);
    throw error;
  }
}

function openScope(client: object, transaction: OpenTransaction, parent?: Scope): Scope {
  return {
    transaction,
    client,
    state: "open",
    collected: [],
    hooks: [],
    shared: parent?.shared ?? new Map(),
    tail: Promise.resolve(),
    counter: parent?.counter ?? { value: 0 },
    ...(parent === undefined ? {} : { parent }),
  };
}

function restore(map: Map<unknown, unknown>, before: ReadonlyMap<unknown, unknown>): void {
  map.clear();
  for (const [key, value] of before) map.set(key, value);
}

// A hook may register further hooks: they are appended to the same list and run too.
async function runHooks(instrument: Instrument, hooks: readonly (() => unknown)[]): Promise<void> {
  for (const hook of hooks) {
    try {
      await runInRoot(hook);
    } catch (error) {
      instrument.emit("error", { part: "after-commit hook", error });
    }
  }
}
