/** Runs the contenders of a comparison in turn, several times, so that a noisy moment hits all of them. */
import type { Comparison } from "./scenario.js";

export interface Measurement {
  readonly contender: string;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  /** To the comparison's first contender, median by median. */
  readonly ratio: number;
  readonly promised?: number;
  readonly kept?: boolean;
}

export interface ComparisonResult extends Pick<Comparison, "title" | "unit" | "better"> {
  readonly repeats: number;
  readonly measurements: readonly Measurement[];
}

export async function measure(comparison: Comparison, repeats: number): Promise<ComparisonResult> {
  const { contenders, better, promises = {} } = comparison;
  const samples = contenders.map((): number[] => []);
  // The first turn warms up connections, plans and compiled code, and does not count.
  for (let turn = 0; turn <= repeats; turn += 1) {
    for (const [index, contender] of contenders.entries()) {
      const sample = await contender.measure();
      if (turn > 0) samples[index]?.push(sample);
    }
  }
  for (const { close } of contenders) await close?.();
  const first = median(samples[0] ?? []);
  const measurements = contenders.map(({ name }, index): Measurement => {
    const own = samples[index] ?? [];
    const ratio = median(own) / first;
    const promised = promises[name];
    return {
      contender: name,
      median: median(own),
      lowest: Math.min(...own),
      highest: Math.max(...own),
      ratio,
      ...(promised === undefined ? {} : { promised, kept: better === "more" ? ratio >= promised : ratio <= promised }),
    };
  });
  return { title: comparison.title, unit: comparison.unit, better, repeats, measurements };
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param share - 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1);
  return sorted[Math.max(0, index)] ?? Number.NaN;
}
