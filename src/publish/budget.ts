/** The bound on everything a client's buffers hold (P9): when it is full, publishers wait in line. */
import type { Entry } from "./entry.js";

export interface BudgetParams {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

export class Budget {
  readonly #params: BudgetParams;
  readonly #line: { readonly entry: Entry; readonly admit: () => void }[] = [];
  #messages = 0;
  #bytes = 0;

  constructor(params: BudgetParams) {
    this.#params = params;
  }

  /** Calls `admit` when the entry may enter: at once, or when others have left. First come, first served. */
  enter(entry: Entry, admit: () => void): void {
    if (this.#line.length === 0 && this.#hasRoomFor(entry)) {
      this.#take(entry);
      admit();
      return;
    }
    this.#line.push({ entry, admit });
  }

  /** Whether the entry was still in line; it has left it now. */
  leaveLine(entry: Entry): boolean {
    const place = this.#line.findIndex((waiting) => waiting.entry === entry);
    if (place === -1) return false;
    this.#line.splice(place, 1);
    this.#admitNext();
    return true;
  }

  get messages(): number {
    return this.#messages;
  }

  #take(entry: Entry): void {
    this.#messages += entry.messages.length;
    this.#bytes += entry.bytes;
    entry.onSettled(() => {
      this.#messages -= entry.messages.length;
      this.#bytes -= entry.bytes;
      this.#admitNext();
    });
  }

  #admitNext(): void {
    for (let next = this.#line[0]; next !== undefined && this.#hasRoomFor(next.entry); next = this.#line[0]) {
      this.#line.shift();
      this.#take(next.entry);
      next.admit();
    }
  }

  // What is larger than the whole budget enters an empty one: it was allowed by the bounds of `many`.
  #hasRoomFor(entry: Entry): boolean {
    if (this.#messages === 0) return true;
    const { maxMessages, maxBytes } = this.#params;
    return this.#messages + entry.messages.length <= maxMessages && this.#bytes + entry.bytes <= maxBytes;
  }
}
