/** One statement per node for all its leases, on a timer of its own: a blocked poll loop does not stop it (R2). */
import type { Backend, HeartbeatAnswer, ListenSession } from "../backend/backend.js";
import type { Lease } from "../batch/batch.js";
import type { Instrument } from "../instrument.js";
import type { Service } from "../service.js";
import { jitterDown, monotonicMs, pause, within } from "../time.js";
import type { Finished } from "./finished.js";
import type { InFlight } from "./in-flight.js";

const sessionAnswersWithinMs = 1_500;

export interface HeartbeatParams {
  readonly backend: Backend;
  /** The LISTEN session, which no busy pool can delay; undefined while it is down. */
  readonly session: () => ListenSession | undefined;
  readonly inFlight: InFlight;
  readonly finished: Finished;
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

  // The fence is checked when the first handler may be due, and not only at the next beat: a beat later the database may
  // already have given the batch away.
  async #run(): Promise<void> {
    let beatAt = monotonicMs() + jitterDown(this.#params.heartbeatMs);
    while (!this.#stopping.signal.aborted) {
      const fenceInMs = this.#params.inFlight.fence();
      await pause(Math.min(beatAt - monotonicMs(), fenceInMs), this.#stopping.signal);
      if (monotonicMs() < beatAt) continue;
      // Not awaited: a statement that hangs must not keep the fence from being checked.
      void this.beat();
      beatAt = monotonicMs() + jitterDown(this.#params.heartbeatMs);
    }
  }

  /** One heartbeat now. Never rejects. */
  async beat(): Promise<void> {
    const { inFlight, instrument, finished } = this.#params;
    const leases = inFlight.leases();
    if (leases.length === 0) return;
    try {
      const askedAt = monotonicMs();
      const answers = await this.#ask(leases);
      for (const { queue, id } of inFlight.apply(leases, answers, askedAt)) {
        instrument.emit("leaseLost", { queue, batchId: id });
      }
      // After the answer: a row that is being settled is skipped by a heartbeat, and time and again it would look abandoned.
      await finished.settle();
    } catch (error) {
      instrument.emit("error", { part: "heartbeat", error });
    }
  }

  // A session whose network has gone silent looks whole for up to thirteen seconds; the leases cannot wait for that.
  async #ask(leases: readonly Lease[]): Promise<ReadonlyMap<string, HeartbeatAnswer>> {
    const { backend, session } = this.#params;
    const listening = session();
    if (listening === undefined) return await backend.heartbeat(leases);
    try {
      return await within(listening.heartbeat(leases), sessionAnswersWithinMs, "a heartbeat over the LISTEN session");
    } catch {
      return await backend.heartbeat(leases);
    }
  }
}
