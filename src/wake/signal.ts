/**
 * "Look now": one bit. A notification, a freed slot, a reconnect, a due timer and a local publish all ring it; nothing
 * else comes back up to the poller.
 */

/** Why the poller looked: heard from another node, a slot was freed, a delayed batch is due, or just the poll interval. */
export type WakeSource = "notify" | "slot" | "timer" | "poll";

export class Signal {
  #rung: WakeSource | undefined;
  #wake: (() => void) | undefined;

  /** Sets the bit. The first reason counts until the poller has looked. */
  ring(source: WakeSource): void {
    this.#rung ??= source;
    this.#wake?.();
  }

  /** Waits until the bit is set or `ms` have passed, and clears it. `otherwise` is the reason when nobody rang. */
  async wait(ms: number, otherwise: WakeSource): Promise<WakeSource> {
    if (this.#rung === undefined && ms > 0) await this.#ringOrTimeout(ms);
    const source = this.#rung ?? otherwise;
    // Cleared before the caller looks: what rings during the look makes it look again.
    this.#rung = undefined;
    return source;
  }

  #ringOrTimeout(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      const self = this;
      function done() {
        clearTimeout(timer);
        self.#wake = undefined;
        resolve();
      }
      this.#wake = done;
    });
  }
}
