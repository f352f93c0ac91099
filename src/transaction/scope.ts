/**
 * The transaction a piece of code runs in. This file holds the only AsyncLocalStorage of the data paths; `currentScope()` is
 * read by a client, and by a scope's own statements to learn where they come from; everything else takes the scope as an
 * argument.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { OpenTransaction } from "../backend/backend.js";
import type { OutgoingMessage } from "../batch/outgoing.js";
import type { QueueDefinition } from "../queue/queue.js";

/** What was published together in the transaction, per queue, in order. */
export interface Collected {
  readonly definition: QueueDefinition;
  readonly messages: readonly OutgoingMessage[];
}

/** A transaction or a savepoint in it. What it gathers joins its parent when it succeeds and is gone when it fails. */
export interface Scope {
  readonly transaction: OpenTransaction;
  /** Whose transaction: a client joins only its own. */
  readonly client: object;
  /** Of a savepoint: the transaction or savepoint it is in. */
  readonly parent?: Scope;
  /** Where it was opened: the parent, another client's transaction, or nothing. */
  readonly around?: Scope;
  /** `ending`: what was collected is written, the commit is under way. `hooks`: committed, its hooks run. */
  state: "open" | "ending" | "hooks" | "committed" | "rolledBack";
  collected: Collected[];
  hooks: (() => unknown)[];
  /** One Map for the outermost scope and all below it; a failed savepoint restores what it was. */
  readonly shared: Map<unknown, unknown>;
  /** Nested scopes run one after another: the tail of their line. */
  tail: Promise<unknown>;
  /** Savepoints made so far in the whole transaction, for their names. */
  readonly counter: { value: number };
}

const storage = new AsyncLocalStorage<Scope | undefined>();

export function currentScope(): Scope | undefined {
  return storage.getStore();
}

export function runInScope<T>(scope: Scope, body: () => T): T {
  return storage.run(scope, body);
}

/** The scope whose hooks are running here: what a hook registers joins them (T3). */
export function scopeOfHook(scope: Scope | undefined, client: object): Scope | undefined {
  for (let outer = scope; outer !== undefined; outer = outer.around) {
    if (outer.client === client && outer.state === "hooks") return outer;
  }
  return undefined;
}

/** Runs user code that belongs to nobody's transaction: handlers (T8). */
export function runInRoot<T>(body: () => T): T {
  return storage.run(undefined, body);
}
