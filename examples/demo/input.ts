/** Reads the input: JSON Lines, each `{"queue", "message"}`. Memory stays flat whatever the file's size. */
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Refusal } from "./protocol.js";

/** A line that is worth trying to publish. */
export interface Entry {
  readonly line: number;
  readonly queue: string;
  readonly message: unknown;
}

/** Lines of the file, read again and again where `again` says so. Each refused line is refused once. */
export class Input {
  readonly refusals: Refusal[] = [];
  readonly #file: string;
  readonly #refused = new Set<number>();

  constructor(file: string) {
    this.#file = file;
  }

  async countLines(): Promise<number> {
    let lines = 0;
    for await (const _ of this.#lines()) lines += 1;
    return lines;
  }

  /** @param again - asked after each reading of the file */
  async *entries(again: () => boolean): AsyncGenerator<Entry> {
    let reading = 0;
    let yielded = 0;
    do {
      reading += 1;
      yielded = 0;
      let line = 0;
      for await (const text of this.#lines()) {
        line += 1;
        if (text.trim() === "" || this.#refused.has(line)) continue;
        const entry = this.#parse(text, line);
        if (entry === undefined) continue;
        yielded += 1;
        yield reading === 1 ? entry : { ...entry, message: renamed(entry.message, reading) };
      }
      // A file with nothing left to publish is not read for ever.
    } while (yielded > 0 && again());
  }

  refuse(line: number, pointer: string, error: string): void {
    if (this.#refused.has(line)) return;
    this.#refused.add(line);
    this.refusals.push({ file: basename(this.#file), line, pointer, error });
  }

  #parse(text: string, line: number): Entry | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return void this.refuse(line, "", `no JSON: ${(error as Error).message}`);
    }
    if (typeof value !== "object" || value === null) return void this.refuse(line, "", "expected an object");
    const { queue, message } = value as { queue?: unknown; message?: unknown };
    if (typeof queue !== "string") return void this.refuse(line, "/queue", "expected the name of a queue");
    if (message === undefined) return void this.refuse(line, "/message", "expected a message");
    return { line, queue, message };
  }

  #lines() {
    return createInterface({ input: createReadStream(this.#file), crlfDelay: Number.POSITIVE_INFINITY });
  }
}

// Read again, an order is another order: dedup must not take it for a repeat.
function renamed(message: unknown, reading: number): unknown {
  const copy = { ...(message as Record<string, unknown>) };
  for (const key of ["orderId", "documentId"]) {
    if (typeof copy[key] === "string") copy[key] = `${copy[key]}~${reading}`;
  }
  return copy;
}
