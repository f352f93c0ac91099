/** A bar on standard error while something is under way, with room for lines above it. */
import type { SingleBar } from "cli-progress";

export interface ProgressBar {
  /** How much is done, of the total. */
  at(done: number): void;
  /** A line for people, above the bar. */
  say(line: string): void;
  end(): void;
}

/** Without a terminal, or where the size is not known beforehand, there is no bar: only the lines. */
export async function progressBar(total: number | undefined, what = "publishing"): Promise<ProgressBar> {
  const plain = {
    at: () => undefined,
    say: (line: string) => void process.stderr.write(`${line}\n`),
    end: () => undefined,
  };
  if (total === undefined || !process.stderr.isTTY) return plain;
  const bar = await openBar(what);
  bar.start(total, 0);
  let over = false;
  return {
    at: (done) => bar.update(done),
    // Over the bar's line; it draws itself anew below.
    say: (line) => void process.stderr.write(`\r\u001b[K${line}\n`),
    end: () => {
      // Once: it moves the cursor, and by then other things are written.
      if (!over) bar.stop();
      over = true;
    },
  };
}

// Loaded only when there is somebody to look at it.
async function openBar(what: string): Promise<SingleBar> {
  const { SingleBar, Presets } = await import("cli-progress");
  const format = `${what} {bar} {percentage}% | {eta_formatted} left`;
  return new SingleBar({ stream: process.stderr, hideCursor: true, forceRedraw: true, format }, Presets.shades_classic);
}
