/** What a publishing process holds: constructs the parts, connects them, and hands out their functions. */
import { hostname } from "node:os";
import type { Backend } from "./backend/backend.js";
import type { Inspector } from "./backend/inspector.js";
import { ClientLife } from "./client-life.js";
import type { ResolvedOptions } from "./client-options.js";
import { ClientTransactions } from "./client-transactions.js";
import type { Listening } from "./deliver/engine.js";
import { pullFrom } from "./deliver/pull.js";
import { subscribeTo } from "./deliver/subscribe.js";
import { ClientHooks } from "./hooks.js";
import { type Inspection, inspectionOf } from "./inspect/inspection.js";
import { queueUpkeep } from "./inspect/queue-upkeep.js";

import { Instrument } from "./instrument.js";

import { LastActivity } from "./metrics/last-activity.js";
import { logEvents } from "./metrics/log-events.js";
import { meter } from "./metrics/metrics.js";
import { openBackend } from "./open-backend.js";
import { type ProgressAccess, progressAccess } from "./progress/progress-access.js";
import { ProgressNews } from "./progress/progress-news.js";
import { publishChain } from "./publish/chain.js";
import type { QueuePublisher } from "./publish/publish.js";
import { publishTo } from "./publish/publish-to.js";
import { Publishers } from "./publish/publishers.js";
import type { QueueDefinition } from "./queue/queue.js";
import type { QueueRegistry } from "./queue/registry.js";
import type { Health, QueueAccess, Runtime, StopOptions } from "./runtime.js";
import { stopOnSignals } from "./stop-on-signals.js";
import { tracedPublisher } from "./tracing/traced-publisher.js";
import { tracedSubscribe } from "./tracing/traced-subscribe.js";
import { tracerOnce } from "./tracing/tracer.js";
import { Waker } from "./wake/waker.js";
import { Worker } from "./worker.js";

export class Client implements Omit<Runtime, "publishTo"> {
  readonly #options: ResolvedOptions;
  readonly #queues: QueueRegistry;
  readonly #instrument = new Instrument();
  readonly #news = new ProgressNews();
  readonly #backend: Backend;
  readonly #waker: Waker;
  readonly #publishers: Publishers;
  readonly #transactions: ClientTransactions;
  readonly #life: ClientLife;
  readonly #access = new Map<string, QueueAccess>();
  readonly #activity: LastActivity;
  readonly #tracer = tracerOnce();
  readonly hooks = new ClientHooks(this.#instrument);

  constructor(options: ResolvedOptions, queues: QueueRegistry) {
    const { bufferMaxMessages: maxMessages, bufferMaxBytes: maxBytes, dedup = {}, logger, registry } = options;
    this.#options = options;
    this.#queues = queues;
    const instrument = this.#instrument;
    this.#backend = openBackend(options, (error) => instrument.emit("error", { part: "pool", error }));
    const backend = this.#backend;
    this.#waker = new Waker(backend, instrument);
    this.#publishers = new Publishers({
      backend,
      instrument,
      bounds: { maxMessages, maxBytes },
      dedup,
      onStored: (queue, { delayed, announced }) => this.#announce([queue], delayed, announced),
    });
    this.#transactions = new ClientTransactions({
      backend,
      instrument,
      dedupOf: this.#publishers.dedupOf,
      assertOpen: () => this.#life.assertOpen(),
      onStored: (names, delayed) => this.#announce(names, delayed, false),
    });
    const endGauges = meter(instrument, registry, () => this.#publishers.bufferDepths());
    this.#life = new ClientLife({
      backend,
      hooks: this.hooks,
      makeWorker: () => this.#makeWorker(backend),
      transactionsEnded: () => this.#transactions.ended(),
      flush: () => this.flush(),
      giveUp: () => this.#publishers.giveUp(),
      onStopped: endGauges,
    });
    this.#activity = new LastActivity(instrument);
    logEvents(instrument, logger);
  }

  // What a client offers may be taken off it, `const { queue } = mq`: functions that know whose they are, no methods.
  queue = (name: string): QueueAccess => {
    const known = this.#access.get(name);
    if (known !== undefined) return known;
    const definition = this.#queues.get(name);
    const scope = () => this.#transactions.scope();
    const publisher = () => {
      if (scope() === undefined) this.#life.assertOpen();
      return this.#publishers.of(definition);
    };
    const listen = tracedSubscribe(
      subscribeTo(definition, () => this.#life.node().engine, this.#transactions.atomically),
      this.#tracer,
    );
    const access: QueueAccess = Object.freeze({
      name,
      publish: tracedPublisher(name, publishTo(publisher, scope), this.#tracer),
      listen,
      pull: pullFrom(definition, () => this.#life.node().puller),
      ...queueUpkeep(this.#backend.inspector, definition),
    });
    this.#access.set(name, access);
    return access;
  };

  chain: Runtime["chain"] = async (steps, { tx } = {}) => {
    const isOurs = (to: QueuePublisher) => this.#publishers.of(to.definition) === to;
    return await publishChain(steps, { tx, scope: this.#transactions.scope(), isOurs });
  };

  get inspect(): Inspection {
    const inspection = inspectionOf(this.#backend.inspector, this.#backend.schedules);
    const resume = async (queue: string) => {
      await inspection.resume(queue);
      // What this node has refused by itself (D6) no row says.
      this.#life.worker?.engine.resume(queue);
    };
    return { ...inspection, resume };
  }

  get progress(): ProgressAccess {
    return progressAccess(this.#backend.progress, this.#news);
  }

  // The next four are no part of what a client offers: the test kit puts one client in the place of another.

  get definitions(): readonly QueueDefinition[] {
    return this.#queues.all();
  }

  get listeners(): readonly Listening[] {
    return this.#life.worker?.engine.listeners ?? [];
  }

  adopt({ definition, handler, concurrency }: Listening): void {
    // An atomic call's transaction is this client's, not that of the client it was registered with.
    const { atomically } = this.#transactions;
    const ours = handler.atomically === undefined ? handler : { ...handler, atomically };
    this.#life.node().engine.listen(definition, ours, concurrency);
  }

  get inspector(): Inspector {
    return this.#backend.inspector;
  }

  start = (): Promise<void> => this.#life.start();

  stop = (options?: StopOptions): Promise<void> => this.#life.stop(options);

  stopOnSignals = (options?: StopOptions) => stopOnSignals((timeoutMs) => this.stop({ timeoutMs }), options);

  transaction: Runtime["transaction"] = (body, options) => this.#transactions.run(body, options);

  afterCommit = (hook: () => unknown): boolean => this.#transactions.afterCommit(hook);

  transactionState = () => this.#transactions.scope()?.shared;

  flush = async (): Promise<void> => {
    await this.#publishers.flush();
    await this.#waker.drained();
  };

  lastActivity = (queue: string): Date | undefined => this.#activity.of(this.#queues.get(queue).name);

  health = (): Health => {
    const bufferDepth = [...this.#publishers.bufferDepths().values()].reduce((sum, depth) => sum + depth, 0);
    return { ...this.#life.health(), bufferDepth };
  };

  metrics = (): Promise<string> => this.#options.registry.metrics();

  on: Runtime["on"] = (event, subscriber) => this.#instrument.on(event, subscriber);

  #makeWorker(backend: Backend): Worker {
    const { logger, pollMs, heartbeatMs, node = `${hostname()}:${process.pid}` } = this.#options;
    return new Worker({
      backend,
      instrument: this.#instrument,
      logger,
      pollMs,
      heartbeatMs,
      node,
      definitions: () => this.#queues.all(),
      onProgress: (key) => this.#news.tell(key),
      onLaneStopped: (queue) => this.#waker.wake([queue], true),
    });
  }

  // This node's own poller first: it is the nearest, and once it has looked it no longer sleeps. Only for what it listens to:
  // a node that publishes elsewhere would look in vain after each of its own commits.
  #announce(queues: readonly string[], marked: boolean, announced: boolean): void {
    if (queues.length === 0) return;
    const { worker } = this.#life;
    if (worker?.engine.wantsAny(queues)) worker.signal.ring("notify", marked);
    if (!announced) this.#waker.wake(queues, marked);
  }
}
