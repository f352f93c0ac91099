/** One statement per node for all its leases, on a timer of its own: a blocked poll loop does not stop it (R2). */
import type { Backend, ListenSession } from "../backend/backend.js";
import type { Instrument } from "../instrument.js";
import type { Service } from "../service.js";
import { jitterDown, pause } from "../time.js";
import type { InFlight } from "./in-flight.js";

export interface HeartbeatParams {
  readonly backend: Backend;
  /** The LISTEN session, which no busy pool can delay; undefined while it is down. */
  readonly session: () => ListenSession | undefined;
  readonly inFlight: InFlight;
  readonly instrument: Instrument;
  readonly heartbeatMs: number;
}

export class Heartbeat implements Service {
  readonly #params: HeartbeatParams;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(params: HeartbeatParams) {
    this.#params = params;
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await pause(jitterDown(this.#params.heartbeatMs), this.#stopping.signal);
      // Not awaited: a statement that hangs must not keep the fence from being checked.
      void this.beat();
      this.#params.inFlight.fence();
    }
  }

  /** One heartbeat now. Never rejects. */
  async beat(): Promise<void> {
    const { backend, session, inFlight, instrument } = this.#params;
    const leases = inFlight.leases();
    if (leases.length === 0) return;
    try {
      const answers = await (session()?.heartbeat(leases) ?? backend.heartbeat(leases));
      inFlight.apply(leases, answers);
    } catch (error) {
      instrument.emit("error", { part: "heartbeat", error });
    }
  }
}
