/**
 * "Look now": one bit. A notification, a freed slot, a reconnect, a due timer and a local publish all ring it; nothing
 * else comes back up to the poller.
 */

import type { WakeSource } from "../instrument.js";

/** What ended a wait. */
export interface Wakened {
  readonly source: WakeSource;
  /** More than a plain publish has happened: what is due and what is delayed must be looked at again too. */
  readonly marked: boolean;
}

export class Signal {
  #rung: WakeSource | undefined;
  #marked = false;
  #wake: (() => void) | undefined;

  /** Sets the bit. The first reason counts until the poller has looked, but a notification outranks the others. */
  ring(source: WakeSource, marked = false): void {
    if (this.#rung === undefined || source === "notify") this.#rung = source;
    this.#marked ||= marked;
    this.#wake?.();
  }

  /** Whether a notification has arrived that nobody has answered with a look yet. */
  get isNotified(): boolean {
    return this.#rung === "notify";
  }

  /** Waits until the bit is set or `ms` have passed, and clears it. `otherwise` is the reason when nobody rang. */
  async wait(ms: number, otherwise: WakeSource): Promise<Wakened> {
    if (this.#rung === undefined && ms > 0) await this.#ringOrTimeout(ms);
    const wakened = { source: this.#rung ?? otherwise, marked: this.#marked };
    // Cleared before the caller looks: what rings during the look makes it look again.
    this.#rung = undefined;
    this.#marked = false;
    return wakened;
  }

  #ringOrTimeout(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      // A time just past: newer versions of node warn of negative ones.
      const timer = setTimeout(done, Math.max(0, ms));
      this.#wake = done;
    });
  }
}
