/** Reads the gauges of all queues every 30 s and tells whoever shows them (M2, W6). */
import type { Inspector } from "../backend/inspector.js";
import type { Instrument } from "../instrument.js";
import type { Service } from "../service.js";
import { pause } from "../time.js";

const everyMs = 30_000;
/** The first reading comes this soon, at some moment: ten nodes that start together would all ask at once. */
const firstWithinMs = 2_000;

export class GaugeReader implements Service {
  readonly #inspector: Inspector;
  readonly #instrument: Instrument;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(inspector: Inspector, instrument: Instrument) {
    this.#inspector = inspector;
    this.#instrument = instrument;
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  /** Does not wait for a reading under way: nobody needs it any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    await pause(firstWithinMs * Math.random(), signal);
    while (!signal.aborted) {
      void this.read();
      // Spread upwards: one statement every 30 s is the most that an idle node may cost.
      await pause(everyMs * (1 + 0.2 * Math.random()), signal);
    }
  }

  /** One reading now. Never rejects: without it the last one counts for a while. */
  async read(): Promise<void> {
    try {
      this.#instrument.emit("gauges", { queues: await this.#inspector.gauges() });
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#instrument.emit("error", { part: "gauges", error });
    }
  }
}
