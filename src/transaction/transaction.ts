/** `mq.transaction`: publishing collects, and is written by the transaction itself right before its commit (T1 to T7). */
import type { Backend, OpenTransaction, TransactionOptions } from "../backend/backend.js";
import { PostriderError } from "../errors.js";
import type { Instrument } from "../instrument.js";
import type { SqlExecutor } from "./executors.js";
import { currentScope, runInScope, type Scope } from "./scope.js";

export interface TransactionParams<Written> {
  readonly backend: Backend;
  readonly instrument: Instrument;
  /** The client: scopes of another client are not joined. */
  readonly client: object;
  /** Where the caller runs: a transaction of another client, most likely nowhere. */
  readonly around: Scope | undefined;
  /** Writes what was collected through the transaction. */
  readonly flush: (scope: Scope) => Promise<Written>;
  /** `unsure`: nobody answered the commit. What was written may be there all the same, and is to be announced. */
  readonly onCommitted: (written: Written, unsure: boolean) => void;
}

/** The outermost transaction: begins, runs, writes, commits, wakes, then runs the hooks in order. */
export async function runTransaction<T, Written>(
  params: TransactionParams<Written>,
  options: TransactionOptions,
  body: (tx: SqlExecutor) => Promise<T> | T,
  beforeCommit?: (transaction: OpenTransaction) => Promise<void>,
): Promise<T> {
  const transaction = await params.backend.begin(options);
  const scope = openScope({ client: params.client, transaction, around: params.around });
  let result: T;
  let written: Written | undefined;
  try {
    result = await runInScope(scope, () => body(executorOf(scope)));
    await settled(scope);
    // From here on nothing may join: it would be promised, and not written.
    scope.state = "ending";
    written = await params.flush(scope);
    await beforeCommit?.(transaction);
    await transaction.commit();
  } catch (error) {
    // Savepoints that nobody awaited may still run: from here on their statements are refused.
    scope.state = "rolledBack";
    await transaction.rollback();
    if (written !== undefined && params.backend.isUnanswered(error)) params.onCommitted(written, true);
    throw error;
  }
  scope.state = "hooks";
  params.onCommitted(written, false);
  await runHooks(params.instrument, scope);
  scope.state = "committed";
  return result;
}

/** A transaction inside a transaction: a savepoint. Those of one parent run one after another. */
export async function runSavepoint<T>(parent: Scope, body: (tx: SqlExecutor) => Promise<T> | T): Promise<T> {
  const turn = parent.tail.then(() => runOneSavepoint(parent, body));
  parent.tail = turn.catch(() => undefined);
  return await turn;
}

async function runOneSavepoint<T>(parent: Scope, body: (tx: SqlExecutor) => Promise<T> | T): Promise<T> {
  assertOpen(parent);
  const { transaction } = parent;
  parent.counter.value += 1;
  const name = `postrider_${parent.counter.value}`;
  const before = new Map(parent.shared);
  await transaction.savepoint(name);
  const scope = openScope({ client: parent.client, transaction, parent, around: parent });
  try {
    const result = await runInScope(scope, () => body(executorOf(scope)));
    await settled(scope);
    assertOpen(scope);
    await transaction.releaseSavepoint(name);
    scope.state = "committed";
    parent.collected.push(...scope.collected);
    parent.hooks.push(...scope.hooks);
    return result;
  } catch (error) {
    scope.state = "rolledBack";
    restore(parent.shared, before);
    // Should this fail, the connection is broken, and the outer commit says so.
    if (isOpen(parent)) await transaction.rollbackTo(name).catch(() => undefined);
    throw error;
  }
}

// A savepoint that ends may be followed by another.
async function settled(scope: Scope): Promise<void> {
  for (let tail: unknown; tail !== scope.tail; await tail) tail = scope.tail;
}

/**
 * The user's statements in a scope. They wait for its savepoints, or they would run inside them; but for those that come
 * from within such a savepoint. After the scope's end they are refused: the connection is somebody else's by then.
 */
function executorOf(scope: Scope): SqlExecutor {
  return {
    query: async (sql, params) => {
      if (!isWithin(currentScope(), scope)) await scope.tail;
      assertOpen(scope);
      return await scope.transaction.executor.query(sql, params);
    },
  };
}

function isWithin(inner: Scope | undefined, outer: Scope): boolean {
  for (let scope = inner?.around; scope !== undefined; scope = scope.around) if (scope === outer) return true;
  return false;
}

function isOpen(scope: Scope): boolean {
  return scope.state === "open" && (scope.parent === undefined || isOpen(scope.parent));
}

function assertOpen(scope: Scope): void {
  if (isOpen(scope)) return;
  throw new PostriderError(
    "ERR_TRANSACTION_OVER",
    "this statement belongs to a transaction that has ended; await it inside",
  );
}

type Opening = Pick<Scope, "client" | "transaction"> & { readonly parent?: Scope; readonly around: Scope | undefined };

function openScope({ client, transaction, parent, around }: Opening): Scope {
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
    ...(around === undefined ? {} : { around }),
  };
}

function restore(map: Map<unknown, unknown>, before: ReadonlyMap<unknown, unknown>): void {
  map.clear();
  for (const [key, value] of before) map.set(key, value);
}

// A hook may register further hooks: they are appended to the same list and run too. The scope they run in is over: whoever
// looks for an open transaction there finds none (T8).
async function runHooks(instrument: Instrument, scope: Scope): Promise<void> {
  for (const hook of scope.hooks) {
    try {
      await runInScope(scope, hook);
    } catch (error) {
      instrument.emit("error", { part: "after-commit hook", error });
    }
  }
}
