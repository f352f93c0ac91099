/** When each queue last published or ended a handler on this node (D12). */
import type { Instrument } from "../instrument.js";

export class LastActivity {
  readonly #at = new Map<string, number>();

  constructor(instrument: Instrument) {
    const note = ({ queue }: { readonly queue: string }) => this.#at.set(queue, Date.now());
    instrument.on("published", note);
    instrument.on("handled", note);
  }

  /** By this node's clock. */
  of(queue: string): Date | undefined {
    const at = this.#at.get(queue);
    return at === undefined ? undefined : new Date(at);
  }
}
