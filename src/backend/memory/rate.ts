/** What a queue with a rate has handed out, and when (J11). */
import type { Rate } from "../../queue/queue.js";

export class HandedOut {
  #entries: { readonly at: number; readonly messages: number }[] = [];

  note(at: number, messages: number): void {
    this.#entries.push({ at, messages });
  }

  /** Messages that may still be handed out at this moment. */
  left({ limit, perMs }: Rate, now: number): number {
    this.#entries = this.#entries.filter(({ at }) => at + perMs > now);
    return limit - this.#entries.reduce((sum, { messages }) => sum + messages, 0);
  }

  /** Until the oldest counts no more; for ever where nothing counts. */
  dueInMs({ perMs }: Rate, now: number): number {
    const oldest = this.#entries.find(({ at }) => at + perMs > now);
    return oldest === undefined ? Infinity : Math.max(1, Math.ceil(oldest.at + perMs - now));
  }
}
