/**
 * Keeps one session that hears notifications, for ever: opens it, proves end to end that it hears, opens the next when it is
 * lost. The proof is a nonce sent through the pool that must come back on the session; it catches what nothing else does: a
 * half-open socket, a standby, a pooler that accepts LISTEN and drops it.
 *
 * W5: a nonce on start and every 10 s, back within 3 s; reconnects for ever, 0.2 s doubling to 4 s.
 */
import { randomBytes } from "node:crypto";
import type { Backend, ListenSession } from "../backend/backend.js";
import type { Instrument, Logger } from "../instrument.js";
import type { Service } from "../service.js";
import { doublingMs, jitterDown, monotonicMs, pause, within } from "../time.js";
import type { Signal } from "./signal.js";

const proveEveryMs = 10_000;
const proofWithinMs = 3_000;

export interface ListenerParams {
  readonly backend: Backend;
  readonly owner: string;
  readonly signal: Signal;
  /** Told which progress was written. */
  readonly onProgress: (key: string) => void;
  readonly instrument: Instrument;
  readonly logger: Logger;
}

export class Listener implements Service {
  readonly #params: ListenerParams;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #session: ListenSession | undefined;
  #upSince: number | undefined;
  #echoed: ((nonce: string) => void) | undefined;
  #warned = false;

  constructor(params: ListenerParams) {
    this.#params = params;
  }

  /** Resolves once the first attempt has ended, well or badly: without LISTEN the node polls. */
  async start(): Promise<void> {
    await new Promise<void>((firstAttemptEnded) => {
      this.#running = this.#run(firstAttemptEnded);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the client is stopping"));
    await this.#running;
  }

  /** The session that is proved to hear, while there is one. */
  get session(): ListenSession | undefined {
    return this.#upSince === undefined ? undefined : this.#session;
  }

  /** How long the session has stood, in ms; 0 while there is none. */
  get upForMs(): number {
    return this.#upSince === undefined ? 0 : monotonicMs() - this.#upSince;
  }

  async #run(firstAttemptEnded: () => void): Promise<void> {
    let attempts = 0;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#liveOnce(() => {
          attempts = 0;
          firstAttemptEnded();
        });
      } catch (error) {
        attempts += 1;
        this.#noteDown(error as Error, attempts);
      }
      firstAttemptEnded();
      await pause(doublingMs(attempts - 1, 200, 4_000), this.#stopping.signal);
    }
  }

  /** One session from its opening to its end. Rejects with why it ended. */
  async #liveOnce(onUp: () => void): Promise<never> {
    const { backend, owner, signal, instrument } = this.#params;
    const lost = new AbortController();
    const session = await backend.listen({
      onWake: (marked) => signal.ring("notify", marked),
      onEcho: (nonce) => this.#echoed?.(nonce),
      onProgress: this.#params.onProgress,
      onDown: (error) => lost.abort(error),
      signal: this.#stopping.signal,
    });
    this.#session = session;
    try {
      await this.#prove(lost.signal);
      await session.liveAs(owner);
      this.#upSince = monotonicMs();
      this.#warned = false;
      instrument.emit("listenerUp", {});
      onUp();
      // Whatever was published while nobody listened was announced to nobody.
      signal.ring("notify", true);
      return await this.#proveForEver(lost.signal);
    } finally {
      this.#upSince = undefined;
      this.#session = undefined;
      await session.close();
    }
  }

  async #proveForEver(lost: AbortSignal): Promise<never> {
    // Spread once: six a minute are what an idle node may send.
    for (let waitMs = jitterDown(proveEveryMs); ; waitMs = proveEveryMs) {
      await pause(waitMs, lost);
      await this.#prove(lost);
    }
  }

  async #prove(lost: AbortSignal): Promise<void> {
    lost.throwIfAborted();
    const nonce = randomBytes(8).toString("hex");
    const over = new AbortController();
    const end = () => over.abort();
    let heard = false;
    this.#echoed = (echo) => {
      heard ||= echo === nonce;
      if (heard) end();
    };
    lost.addEventListener("abort", end, { once: true });
    // Not sent in time says nothing about the session: the pool may be busy or the database away.
    const sent = await within(this.#params.backend.echo(nonce), proofWithinMs, "sending the nonce").then(
      () => true,
      () => false,
    );
    if (sent) await pause(proofWithinMs, over.signal);
    // Or every nonce of the session's whole life would leave its ear behind.
    lost.removeEventListener("abort", end);
    lost.throwIfAborted();
    if (sent && !heard)
      throw new Error(`a notification sent to this node itself did not arrive in ${proofWithinMs} ms`);
  }

  #noteDown(error: Error, attempts: number): void {
    const { instrument, logger } = this.#params;
    if (this.#stopping.signal.aborted) return;
    instrument.emit("listenerDown", { error, attempts });
    if (this.#warned) return;
    // Once until it is up again: an outage of an hour is one line, not thousands.
    this.#warned = true;
    logger.warn(
      { err: error },
      "LISTEN is not available: messages are found by polling, within pollMs, until it is (a transaction pooler needs listenConnectionString)",
    );
  }
}
