/** A bar on standard error while a file is read, with room for lines above it. */
import type { MultiBar } from "cli-progress";

export interface ProgressBar {
  /** Bytes read so far. */
  at(bytes: number): void;
  /** A line for people, above the bar. */
  say(line: string): void;
  end(): void;
}

/** Without a terminal, or where the size is not known beforehand, there is no bar: only the lines. */
export async function progressBar(totalBytes: number | undefined): Promise<ProgressBar> {
  const plain = {
    at: () => undefined,
    say: (line: string) => void process.stderr.write(`${line}\n`),
    end: () => undefined,
  };
  if (totalBytes === undefined || !process.stderr.isTTY) return plain;
  const bars: MultiBar = await openBars();
  const bar = bars.create(totalBytes, 0);
  return {
    at: (bytes) => bar.update(bytes),
    say: (line) => bars.log(`${line}\n`),
    end: () => bars.stop(),
  };
}

// Loaded only when there is somebody to look at it.
async function openBars(): Promise<MultiBar> {
  const { MultiBar, Presets } = await import("cli-progress");
  const format = "publishing {bar} {percentage}% | {eta_formatted} left";
  return new MultiBar({ stream: process.stderr, hideCursor: true, format }, Presets.shades_classic);
}
