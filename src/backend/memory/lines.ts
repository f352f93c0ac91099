/** The lines of queues with `orderBy` (J10): rows of one key, oldest first; what was divided keeps its batch's place. */
import type { Row } from "./row.js";
import { SortedList } from "./sorted-list.js";

interface Line {
  readonly rows: SortedList<Row>;
  running: number;
}

export class Lines {
  readonly #lines = new Map<string, Line>();

  join(row: Row): void {
    if (row.orderKey === undefined) return;
    const name = nameOf(row);
    const line = this.#lines.get(name) ?? { rows: new SortedList(lineOrder), running: 0 };
    this.#lines.set(name, line);
    line.rows.add(row);
  }

  leave(row: Row): void {
    if (row.orderKey === undefined) return;
    const line = this.#lines.get(nameOf(row));
    line?.rows.delete(row);
    if (line?.rows.size === 0) this.#lines.delete(nameOf(row));
  }

  /** Notes that a row of the line begins to run, or ends. */
  note(row: Row, change: 1 | -1): void {
    const line = row.orderKey === undefined ? undefined : this.#lines.get(nameOf(row));
    if (line !== undefined) line.running += change;
  }

  /** Whether a waiting row may run: it stands in no line, or it is the first of its line and nothing of that runs. */
  isReady(row: Row, onFailure: "block" | "skip"): boolean {
    const line = row.orderKey === undefined ? undefined : this.#lines.get(nameOf(row));
    if (line === undefined) return true;
    if (line.running > 0) return false;
    const [head] = line.rows.first(1, ({ status }) => onFailure === "block" || status !== "delayed");
    return head === row;
  }
}

function nameOf({ queue, orderKey }: Row): string {
  return JSON.stringify([queue, orderKey]);
}

function lineOrder(a: Row, b: Row): number {
  return Number(a.originId ?? a.id) - Number(b.originId ?? b.id) || a.seq - b.seq;
}
