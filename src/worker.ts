/** What a delivering process starts: its parts in a list, started in this order and stopped in the reverse. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Backend } from "./backend/backend.js";
import { Engine } from "./deliver/engine.js";
import { Finished } from "./deliver/finished.js";
import { Heartbeat } from "./deliver/heartbeat.js";
import { InFlight } from "./deliver/in-flight.js";
import { Puller } from "./deliver/puller.js";
import { Settler } from "./deliver/settle.js";
import type { Instrument, Logger } from "./instrument.js";
import { GaugeReader } from "./metrics/gauge-reader.js";
import { Poller } from "./poll/poller.js";
import type { QueueDefinition } from "./queue/queue.js";
import { Scheduler } from "./schedule/scheduler.js";
import { atMost, doublingMs, monotonicMs, pause, within } from "./time.js";
import { Listener } from "./wake/listener.js";
import { Signal } from "./wake/signal.js";
import { warnOfDifference } from "./warn-of-difference.js";

export interface WorkerParams {
  readonly backend: Backend;
  readonly instrument: Instrument;
  readonly logger: Logger;
  readonly node: string;
  readonly pollMs: number;
  readonly heartbeatMs: number;
  readonly definitions: () => readonly QueueDefinition[];
  /** Told which progress was written, by anybody. */
  readonly onProgress: (key: string) => void;
  /** Wakes other nodes for a queue this one no longer claims. */
  readonly onLaneStopped: (queue: string) => void;
}

export class Worker {
  /** Names this life of the process in leases and locks; a restarted process is another owner. */
  readonly owner: string;
  readonly engine: Engine;
  readonly puller: Puller;
  readonly signal = new Signal();
  readonly #params: WorkerParams;
  readonly #stopping = new AbortController();
  readonly #inFlight = new InFlight();
  readonly #listener: Listener;
  readonly #heartbeat: Heartbeat;
  readonly #poller: Poller;
  readonly #gauges: GaugeReader;
  readonly #scheduler: Scheduler;
  #noted = false;

  constructor(params: WorkerParams) {
    const { backend, instrument, definitions } = params;
    this.#params = params;
    this.owner = `${hostname()}:${process.pid}:${randomBytes(6).toString("hex")}`;
    const inFlight = this.#inFlight;
    const settler = new Settler(backend, instrument, inFlight);
    const finished = new Finished(settler);
    const { owner, signal } = this;
    const onLaneStopped = (queue: string) => {
      // A node that never started claimed nothing that others could take over.
      if (this.#noted) params.onLaneStopped(queue);
    };
    this.engine = new Engine({ ...params, inFlight, settler, finished, signal, onLaneStopped });
    this.#listener = new Listener({ ...params, owner, signal });
    const session = () => this.#listener.session;
    this.#heartbeat = new Heartbeat({ ...params, session, inFlight, finished });
    const makeHeartbeat = () => (this.#noted ? undefined : new Heartbeat({ ...params, session, inFlight, finished }));
    this.puller = new Puller({
      ...params,
      owner,
      inFlight,
      settler,
      finished,
      makeHeartbeat,
      register: (queue) => this.#registerOne(queue),
    });
    this.#poller = new Poller({
      ...params,
      owner,
      signal,
      session,
      slots: this.engine,
      sessionUpForMs: () => this.#listener.upForMs,
      orphanAfterMs: () => Math.max(...definitions().map(({ settings }) => settings.orphanAfterMs), 0),
    });
    this.#scheduler = new Scheduler({ book: backend.schedules, instrument, definitions });
    this.#gauges = new GaugeReader(backend.inspector, instrument);
  }

  /** Waits for a database that is away; a schema that does not fit is an error at once. */
  async start(): Promise<void> {
    const { backend, node } = this.#params;
    await this.#untilAnswered(() => backend.check());
    await this.#untilAnswered(() => this.#register(this.#params.definitions()));
    await this.#untilAnswered(() => this.#scheduler.keep());
    await this.#untilAnswered(() => backend.noteNode(this.owner, node, this.#versions()));
    this.#noted = true;
    for (const part of [this.#listener, this.#heartbeat, this.#poller, this.#scheduler, this.#gauges]) {
      if (this.#stopping.signal.aborted) return;
      await part.start();
    }
  }

  /** Takes no new work, drains the handlers, settles; heartbeats go on until then. */
  async drain(timeoutMs: number, hurry: AbortSignal): Promise<void> {
    this.#stopping.abort();
    this.engine.refuse();
    await this.#gauges.stop();
    // A round that waits for a silent database is not waited for: the handlers' time runs already.
    await atMost(1_000, Promise.all([this.#poller.stop(), this.#scheduler.stop()]));
    const begun = monotonicMs();
    await this.puller.drain(timeoutMs, hurry);
    await this.engine.drain(Math.max(0, timeoutMs - (monotonicMs() - begun)), hurry);
  }

  /** After `drain`, and after the publish buffer is empty. */
  async stop(): Promise<void> {
    const { backend, node, instrument } = this.#params;
    await this.puller.stop();
    await this.#heartbeat.stop();
    await this.#listener.stop();
    if (!this.#noted) return;
    // For people only: a database that is away must not keep the process from ending.
    await within(backend.noteNode(this.owner, node), 1_000, "noting the node's end").catch((error: unknown) =>
      instrument.emit("error", { part: "node", error }),
    );
  }

  health() {
    const { lastRoundAt, failing } = this.#poller;
    const oldestInFlightMs = this.#inFlight.oldestMs;
    const { refused } = this.engine;
    return {
      ok: lastRoundAt !== undefined && !failing && !this.#stopping.signal.aborted,
      listener: this.#listener.session === undefined ? ("down" as const) : ("up" as const),
      ...(lastRoundAt === undefined ? {} : { lastRoundAt }),
      ...(refused.length === 0 ? {} : { refused }),
      ...(oldestInFlightMs === undefined ? {} : { oldestInFlightMs }),
    };
  }

  #versions(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#params.definitions().map(({ name, settings }) => [name, settings.version]));
  }

  async #registerOne(definition: QueueDefinition): Promise<void> {
    if (this.#noted) return;
    await this.#params.backend.check();
    await this.#register([definition]);
  }

  async #register(known: readonly QueueDefinition[]): Promise<void> {
    const { backend, node, logger } = this.#params;
    for (const difference of await backend.register(known, node)) warnOfDifference(logger, known, difference);
  }

  // A13: a database that is away at start is waited for; handlers registered meanwhile run when it is back.
  async #untilAnswered(step: () => Promise<void>): Promise<void> {
    for (let failures = 0; !this.#stopping.signal.aborted; failures += 1) {
      try {
        return await step();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        if (!this.#params.backend.isPassing(error)) throw error;
        this.#params.instrument.emit("error", { part: "start", error });
        await pause(doublingMs(failures, 200, 4_000), this.#stopping.signal);
      }
    }
  }
}
