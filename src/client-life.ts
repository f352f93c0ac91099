/** How a client starts and stops: the order of it, and what is refused when. */
import type { Backend } from "./backend/backend.js";
import { PostriderError } from "./errors.js";
import type { ClientHooks } from "./hooks.js";
import type { Health, StopOptions } from "./runtime.js";
import { atMost, monotonicMs } from "./time.js";
import type { Worker } from "./worker.js";

export interface ClientLifeParams {
  readonly backend: Backend;
  readonly hooks: ClientHooks;
  readonly makeWorker: () => Worker;
  /** Resolves when the transactions that run now have ended, well or not. */
  readonly transactionsEnded: () => Promise<unknown>;
  readonly flush: () => Promise<void>;
  /** Drops what could not be written so far. */
  readonly giveUp: () => void;
  readonly onStopped: () => void;
}

/** What a stopping client leaves for its last writes, however short its time. */
const leastToWriteMs = 1_000;

export class ClientLife {
  readonly #params: ClientLifeParams;
  readonly #hurry = new AbortController();
  #worker: Worker | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  /** Handlers have ended: from here on only what already runs in a transaction may publish. */
  #closed = false;

  constructor(params: ClientLifeParams) {
    this.#params = params;
  }

  /** The delivering part, if there is one yet. */
  get worker(): Worker | undefined {
    return this.#worker;
  }

  /** The delivering part, made at first use. */
  node(): Worker {
    if (this.#stopping !== undefined) throw stopped();
    this.#worker ??= this.#params.makeWorker();
    return this.#worker;
  }

  async start(): Promise<void> {
    this.#starting ??= this.#start().catch((error: unknown) => {
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

  /** @throws PostriderError `ERR_CLIENT_STOPPED` */
  assertOpen(): void {
    if (this.#closed) throw stopped();
  }

  health(): Omit<Health, "bufferDepth"> {
    if (this.#worker === undefined || this.#starting === undefined) return { ok: false, listener: "not started" };
    return this.#worker.health();
  }

  async #start(): Promise<void> {
    const worker = this.node();
    await this.#params.hooks.run("start");
    await worker.start();
  }

  async #stop(timeoutMs: number): Promise<void> {
    const { backend, hooks, transactionsEnded, flush, giveUp, onStopped } = this.#params;
    const hurry = this.#hurry.signal;
    const deadline = monotonicMs() + timeoutMs;
    // Handlers that still run may publish and open transactions: they are to end well.
    await this.#worker?.drain(timeoutMs, hurry);
    const leftMs = () => Math.max(leastToWriteMs, deadline - monotonicMs());
    await atMost(leftMs(), hooks.run("stop"), hurry);
    this.#closed = true;
    await atMost(leftMs(), transactionsEnded(), hurry);
    await atMost(hurry.aborted ? leastToWriteMs : leftMs(), flush());
    // What could not be written by now is dropped: said, counted and rejected. A database that is away must not keep us.
    giveUp();
    await this.#worker?.stop();
    await this.#starting?.catch(() => undefined);
    await backend.close();
    onStopped();
  }
}

function stopped(): PostriderError {
  return new PostriderError("ERR_CLIENT_STOPPED", "this client has been stopped; create a new one");
}
