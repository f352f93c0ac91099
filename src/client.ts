/** What a publishing process holds: constructs the parts, connects them, and hands out their functions. */
import { hostname } from "node:os";
import type { Backend } from "./backend/backend.js";
import { MemoryBackend } from "./backend/memory/memory-backend.js";
import { PostgresBackend } from "./backend/postgres/postgres-backend.js";
import { isSerializationFailure } from "./backend/postgres/sqlstate.js";
import { type ClientOptions, type ResolvedOptions, resolveClientOptions } from "./client-options.js";
import { subscribeTo } from "./deliver/subscribe.js";
import { PostriderError } from "./errors.js";
import { Instrument } from "./instrument.js";
import { LastActivity } from "./metrics/last-activity.js";
import { logEvents } from "./metrics/log-events.js";
import { meter } from "./metrics/metrics.js";
import { Budget } from "./publish/budget.js";
import type { DedupFunction } from "./publish/dedup-function.js";
import { type Flushed, flushScope, QueuePublisher } from "./publish/publish.js";
import { publishTo } from "./publish/publish-to.js";
import type { QueueDefinition } from "./queue/queue.js";
import { QueueRegistry } from "./queue/registry.js";
import type { QueueAccess, Runtime, StopOptions } from "./runtime.js";
import { stopOnSignals } from "./stop-on-signals.js";
import { atMost, monotonicMs } from "./time.js";
import { withRetries } from "./transaction/retry.js";
import { currentScope, type Scope, scopeOfHook } from "./transaction/scope.js";
import { runSavepoint, runTransaction, type TransactionParams } from "./transaction/transaction.js";
import { Waker } from "./wake/waker.js";
import { Worker } from "./worker.js";

/** Options of {@link createRuntime}. */
export interface RuntimeOptions extends ClientOptions {
  readonly queues: readonly QueueDefinition[];
}

/**
 * Makes a client for these queues. Connects on first use.
 *
 * @throws PostriderError `ERR_CLIENT_OPTIONS`, `ERR_QUEUE_CONFLICT`, `ERR_SCHEMA_NAME`
 */
export function createRuntime({ queues, ...options }: RuntimeOptions): Runtime {
  const registry = new QueueRegistry();
  for (const definition of queues) registry.add(definition);
  const client = new Client(resolveClientOptions(options, queues), registry);
  const publishers: Record<string, unknown> = {};
  const subscribers: Record<string, unknown> = {};
  for (const definition of registry.all()) {
    const access = client.queue(definition.name);
    publishers[definition.identifier] = access.publish;
    subscribers[`on${definition.typeName}`] = access.listen;
  }
  return Object.assign(client, { publishTo: Object.freeze(publishers) }, subscribers);
}

function openBackend({ backend, ...options }: ResolvedOptions, onIdleError: (error: Error) => void): Backend {
  if (backend === "memory") return new MemoryBackend();
  if (backend === undefined || backend === "postgres") return new PostgresBackend({ ...options, onIdleError });
  return backend;
}

class Client implements Omit<Runtime, "publishTo"> {
  readonly #options: ResolvedOptions;
  readonly #queues: QueueRegistry;
  readonly #instrument = new Instrument();
  readonly #backend;
  readonly #waker: Waker;
  readonly #budget: Budget;
  readonly #publishers = new Map<string, QueuePublisher>();
  readonly #access = new Map<string, QueueAccess>();
  readonly #activity: LastActivity;
  readonly #transactions = new Set<Promise<unknown>>();
  readonly #hurry = new AbortController();
  #worker: Worker | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  /** Handlers have ended: from here on only what already runs in a transaction may publish. */
  #closed = false;

  constructor(options: ResolvedOptions, queues: QueueRegistry) {
    this.#options = options;
    this.#queues = queues;
    const onIdleError = (error: Error) => this.#instrument.emit("error", { part: "pool", error });
    this.#backend = openBackend(options, onIdleError);
    this.#waker = new Waker(this.#backend, this.#instrument);
    this.#budget = new Budget({ maxMessages: options.bufferMaxMessages, maxBytes: options.bufferMaxBytes });
    this.#activity = new LastActivity(this.#instrument);
    logEvents(this.#instrument, options.logger);
    meter(this.#instrument, options.registry, () => this.#bufferDepths());
  }

  queue(name: string): QueueAccess {
    const known = this.#access.get(name);
    if (known !== undefined) return known;
    const definition = this.#queues.get(name);
    const access = Object.freeze({
      name,
      publish: publishTo(
        () => this.#publisher(definition),
        () => this.#scope(),
      ),
      listen: subscribeTo(definition, () => this.#node().engine),
    });
    this.#access.set(name, access);
    return access;
  }

  async start(): Promise<void> {
    this.#starting ??= this.#node()
      .start()
      .catch((error: unknown) => {
        // A schema that is migrated later, an address that is found later: the next call tries again.
        this.#starting = undefined;
        throw error;
      });
    await this.#starting;
  }

  stop({ timeoutMs = 30_000 }: StopOptions = {}): Promise<void> {
    if (timeoutMs === 0) this.#hurry.abort();
    this.#stopping ??= this.#stop(timeoutMs);
    return this.#stopping;
  }

  stopOnSignals(options?: StopOptions): () => void {
    return stopOnSignals((timeoutMs) => this.stop({ timeoutMs }), options);
  }

  async transaction<T>(...[body, options = {}]: Parameters<Runtime["transaction"]>): Promise<T> {
    const scope = this.#scope();
    if (scope !== undefined) return (await runSavepoint(scope, body)) as T;
    this.#assertOpen();
    const once = () => runTransaction(this.#transactionParams(), options, body);
    const run = withRetries(options, isSerializationFailure, once);
    this.#transactions.add(run);
    try {
      return (await run) as T;
    } finally {
      this.#transactions.delete(run);
    }
  }

  afterCommit(hook: () => unknown): boolean {
    const scope = this.#scope() ?? scopeOfHook(currentScope(), this);
    scope?.hooks.push(hook);
    return scope !== undefined;
  }

  transactionState(): Map<unknown, unknown> | undefined {
    return this.#scope()?.shared;
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#publishers.values()].map((publisher) => publisher.flush()));
    await this.#waker.drained();
  }

  lastActivity(queue: string): Date | undefined {
    return this.#activity.of(this.#queues.get(queue).name);
  }

  health() {
    const worker = this.#worker;
    const bufferDepth = [...this.#bufferDepths().values()].reduce((sum, depth) => sum + depth, 0);
    if (worker === undefined || this.#starting === undefined) {
      return { ok: false, listener: "not started" as const, bufferDepth };
    }
    return { ...worker.health(), bufferDepth };
  }

  async metrics(): Promise<string> {
    return await this.#options.registry.metrics();
  }

  on: Runtime["on"] = (event, subscriber) => this.#instrument.on(event, subscriber);

  async #stop(timeoutMs: number): Promise<void> {
    const deadline = monotonicMs() + timeoutMs;
    // Handlers that still run may publish and open transactions: they are to end well.
    await this.#worker?.drain(timeoutMs, this.#hurry.signal);
    this.#closed = true;
    const leftMs = () => Math.max(leastToWriteMs, deadline - monotonicMs());
    await atMost(leftMs(), Promise.all(this.#transactions), this.#hurry.signal);
    await atMost(this.#hurry.signal.aborted ? leastToWriteMs : leftMs(), this.flush());
    // What could not be written by now is dropped: said, counted and rejected. A database that is away must not keep us.
    for (const publisher of this.#publishers.values()) publisher.giveUp();
    await this.#worker?.stop();
    await this.#starting?.catch(() => undefined);
    await this.#backend.close();
  }

  #node(): Worker {
    if (this.#stopping !== undefined) throw stopped();
    this.#worker ??= new Worker({
      backend: this.#backend,
      instrument: this.#instrument,
      logger: this.#options.logger,
      node: this.#options.node ?? `${hostname()}:${process.pid}`,
      pollMs: this.#options.pollMs,
      heartbeatMs: this.#options.heartbeatMs,
      definitions: () => this.#queues.all(),
      onLaneStopped: (queue) => this.#waker.wake([queue], true),
    });
    return this.#worker;
  }

  #publisher(definition: QueueDefinition): QueuePublisher {
    if (this.#scope() === undefined) this.#assertOpen();
    const known = this.#publishers.get(definition.name);
    if (known !== undefined) return known;
    const publisher = new QueuePublisher(definition, {
      backend: this.#backend,
      instrument: this.#instrument,
      budget: this.#budget,
      onStored: (queue, { delayed, announced }) => this.#announce([queue], delayed, announced),
      dedupOf: (definition) => this.#dedupOf(definition),
    });
    this.#publishers.set(definition.name, publisher);
    return publisher;
  }

  #dedupOf({ name, identifier }: QueueDefinition): DedupFunction | undefined {
    return this.#options.dedup?.[name] ?? this.#options.dedup?.[identifier];
  }

  #transactionParams(): TransactionParams<readonly Flushed[]> {
    const dedupers = {
      instrument: this.#instrument,
      dedupOf: (definition: QueueDefinition) => this.#dedupOf(definition),
    };
    return {
      backend: this.#backend,
      instrument: this.#instrument,
      client: this,
      around: currentScope(),
      flush: (scope) => flushScope(scope, dedupers),
      onCommitted: (flushed, unsure) => {
        if (!unsure) for (const { queue, messages } of flushed) this.#instrument.emit("published", { queue, messages });
        const delayed = flushed.some((to) => to.delayed);
        this.#announce(
          flushed.map(({ queue }) => queue),
          delayed,
          false,
        );
      },
    };
  }

  // This node's own poller first: it is the nearest, and once it has looked it no longer sleeps. Only for what it listens to:
  // a node that publishes elsewhere would look in vain after each of its own commits.
  #announce(queues: readonly string[], marked: boolean, announced: boolean): void {
    if (queues.length === 0) return;
    if (this.#worker?.engine.wantsAny(queues)) this.#worker.signal.ring("notify", marked);
    if (!announced) this.#waker.wake(queues, marked);
  }

  /** The open transaction the caller runs in, if it is one of this client (T5). */
  #scope(): Scope | undefined {
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

  #bufferDepths(): ReadonlyMap<string, number> {
    return new Map([...this.#publishers].map(([queue, { bufferDepth }]) => [queue, bufferDepth]));
  }

  #assertOpen(): void {
    if (this.#closed) throw stopped();
  }
}

/** What a stopping client leaves for its last writes, however short its time. */
const leastToWriteMs = 1_000;

function stopped(): PostriderError {
  return new PostriderError("ERR_CLIENT_STOPPED", "this client has been stopped; create a new one");
}
