/** A reader that has seen enough: `postrider peek orders | head -1`. */
import type { Writable } from "node:stream";

/**
 * Lets the command run on when whoever reads its output is gone: what it does to the database must not end halfway because
 * nobody looks any more. What it writes from then on is dropped by Node.
 */
export function surviveBrokenPipes(streams: readonly Writable[]): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
}
