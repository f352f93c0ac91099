/** Runs the contenders of a comparison in turn, several times, so that a noisy moment hits all of them. */
import { median } from "./percentile.js";
import type { Comparison, Pledge, Sample } from "./scenario.js";

export interface Measurement {
  readonly contender: string;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  /** To the comparison's first contender, median by median. */
  readonly ratio: number;
  /** Medians of what else was measured. */
  readonly also: Readonly<Record<string, number>>;
}

export interface JudgedPledge extends Pledge {
  /** The ratio, or the value where the pledge is absolute. */
  readonly measured: number;
  readonly kept: boolean;
}

export interface ComparisonResult extends Pick<Comparison, "title" | "unit" | "better"> {
  readonly repeats: number;
  readonly measurements: readonly Measurement[];
  /** Whose median is the best. */
  readonly winner: string;
  readonly pledges: readonly JudgedPledge[];
}

export interface MeasureOptions {
  readonly repeats: number;
  /** A first turn warms up connections, plans and compiled code, and does not count. */
  readonly warmUp: boolean;
}

export async function measure(comparison: Comparison, options: MeasureOptions): Promise<ComparisonResult> {
  const { contenders, title, unit, better } = comparison;
  const repeats = Math.min(options.repeats, comparison.repeats ?? options.repeats);
  const samples = contenders.map((): Sample[] => []);
  try {
    for (let turn = options.warmUp && comparison.warmUp !== false ? 0 : 1; turn <= repeats; turn += 1) {
      for (const [index, contender] of contenders.entries()) {
        const sample = await contender.measure();
        if (turn > 0) samples[index]?.push(sample);
      }
    }
  } finally {
    for (const { close } of contenders) await close?.();
  }
  const measurements = contenders.map(({ name }, index) => summaryOf(name, samples[index] ?? [], samples[0] ?? []));
  const best = [...measurements].sort((a, b) => (better === "more" ? b.median - a.median : a.median - b.median))[0];
  const pledges = (comparison.pledges ?? []).flatMap((pledge) => judge(pledge, better, measurements));
  return { title, unit, better, repeats, measurements, winner: best?.contender ?? "", pledges };
}

function summaryOf(contender: string, samples: readonly Sample[], first: readonly Sample[]): Measurement {
  const values = samples.map(({ value }) => value);
  const names = Object.keys(samples[0]?.also ?? {});
  const medianOf = (name: string) => median(samples.map(({ also }) => also?.[name] ?? Number.NaN));
  return {
    contender,
    median: median(values),
    lowest: Math.min(...values),
    highest: Math.max(...values),
    ratio: median(values) / median(first.map(({ value }) => value)),
    also: Object.fromEntries(names.map((name) => [name, medianOf(name)])),
  };
}

function judge(pledge: Pledge, usual: "more" | "less", all: readonly Measurement[]): readonly JudgedPledge[] {
  const figureOf = (measurement: Measurement) =>
    pledge.of === undefined ? measurement.median : (measurement.also[pledge.of] ?? Number.NaN);
  const own = all.find(({ contender }) => contender === pledge.contender);
  if (own === undefined) return [];
  const better = pledge.better ?? usual;
  const others = all.filter(({ contender }) => pledge.against?.includes(contender)).map(figureOf);
  if (pledge.against !== undefined && others.length === 0) return [];
  const best = better === "more" ? Math.max(...others) : Math.min(...others);
  const measured = pledge.against === undefined ? figureOf(own) : figureOf(own) / best;
  return [{ ...pledge, measured, kept: better === "more" ? measured >= pledge.bound : measured <= pledge.bound }];
}
