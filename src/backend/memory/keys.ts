/** Which row holds which unique key (J9): the unique index of the SQL backend. */
import type { Row } from "./row.js";

export class Keys {
  readonly #holders = new Map<string, Row>();

  /** The row that holds the key this one would hold. */
  holderOf({ queue, unique }: Pick<Row, "queue" | "unique">): Row | undefined {
    return unique === undefined ? undefined : this.holder(queue, unique.key);
  }

  /** The row that holds a key. */
  holder(queue: string, key: string): Row | undefined {
    return this.#holders.get(nameOf(queue, key));
  }

  /** A row that waits takes its key; one whose key is taken goes on without it. */
  hold(row: Row): void {
    if (row.unique === undefined) return;
    const holder = this.holderOf(row);
    if (holder === undefined) this.#holders.set(nameOf(row.queue, row.unique.key), row);
    else if (holder !== row) row.unique = undefined;
  }

  /** A row runs: it keeps its key only where that is meant to be held so long. */
  run(row: Row): void {
    if (row.unique?.whileRunning === false) this.leave(row);
  }

  /** A row is gone, or its key is to be free. */
  leave(row: Row): void {
    if (row.unique !== undefined && this.holderOf(row) === row) {
      this.#holders.delete(nameOf(row.queue, row.unique.key));
    }
  }
}

function nameOf(queue: string, key: string): string {
  return JSON.stringify([queue, key]);
}
