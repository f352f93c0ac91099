/** The transactions of one client: which one the caller runs in, and what a commit writes and wakes. */
import type { Backend } from "./backend/backend.js";
import { isSerializationFailure } from "./backend/postgres/sqlstate.js";
import type { Atomically } from "./deliver/atomic.js";
import { PostriderError } from "./errors.js";
import type { Instrument } from "./instrument.js";
import { type DedupOf, type Flushed, flushScope } from "./publish/publish.js";
import type { Runtime } from "./runtime.js";
import { withRetries } from "./transaction/retry.js";
import { currentScope, type Scope, scopeOfHook } from "./transaction/scope.js";
import { runSavepoint, runTransaction, type TransactionParams } from "./transaction/transaction.js";

export interface ClientTransactionsParams {
  readonly backend: Backend;
  readonly instrument: Instrument;
  readonly dedupOf: DedupOf;
  /** Throws when no new transaction may begin. */
  readonly assertOpen: () => void;
  /** Wakes those who sleep on these queues. `delayed`: some of it is not to be delivered yet. */
  readonly onStored: (queues: readonly string[], delayed: boolean) => void;
}

export class ClientTransactions {
  readonly #params: ClientTransactionsParams;
  readonly #running = new Set<Promise<unknown>>();

  constructor(params: ClientTransactionsParams) {
    this.#params = params;
  }

  async run<T>(...[body, options = {}]: Parameters<Runtime["transaction"]>): Promise<T> {
    const scope = this.scope();
    if (scope !== undefined) return (await runSavepoint(scope, body)) as T;
    this.#params.assertOpen();
    const once = () => runTransaction(this.#transactionParams(), options, body);
    return await this.#track(withRetries(options, isSerializationFailure, once) as Promise<T>);
  }

  /** The transaction of a handler's call. Tried once: a call that fails is delivered again. */
  atomically: Atomically = async (body, settle) => {
    await this.#track(runTransaction(this.#transactionParams(), {}, body, settle));
  };

  async #track<T>(run: Promise<T>): Promise<T> {
    this.#running.add(run);
    try {
      return await run;
    } finally {
      this.#running.delete(run);
    }
  }

  /** Resolves when those that run now have ended; rejects when one of them fails. */
  ended(): Promise<unknown> {
    return Promise.all(this.#running);
  }

  afterCommit(hook: () => unknown): boolean {
    const scope = this.scope() ?? scopeOfHook(currentScope(), this);
    scope?.hooks.push(hook);
    return scope !== undefined;
  }

  /** The open transaction the caller runs in, if it is one of this client (T5). */
  scope(): Scope | undefined {
    for (let scope = currentScope(); scope !== undefined; scope = scope.around) {
      if (scope.client !== this || scope.state === "hooks" || scope.state === "committed") continue;
      if (scope.state === "open") return scope;
      const what = scope.state === "ending" ? "is being committed" : "was rolled back";
      throw new PostriderError(
        "ERR_TRANSACTION_OVER",
        `this code belongs to a transaction that ${what}; await it inside`,
      );
    }
    return undefined;
  }

  #transactionParams(): TransactionParams<readonly Flushed[]> {
    const { backend, instrument, onStored } = this.#params;
    return {
      backend,
      instrument,
      client: this,
      around: currentScope(),
      flush: (scope) => flushScope(scope, this.#params),
      onCommitted: (flushed, unsure) => {
        if (!unsure) for (const { queue, messages } of flushed) instrument.emit("published", { queue, messages });
        onStored(
          flushed.map(({ queue }) => queue),
          flushed.some(({ delayed }) => delayed),
        );
      },
    };
  }
}
