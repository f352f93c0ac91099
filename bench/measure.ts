/** Runs the contenders of a comparison in turn, several times, so that a noisy moment hits all of them. */
import { median } from "./percentile.js";
import { rounded } from "./rounded.js";
import type { Comparison, Contender, Pledge, Sample } from "./scenario.js";

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
  readonly better: "more" | "less";
  /** The ratio, or the value where the pledge is absolute. */
  readonly measured: number;
  readonly kept: boolean;
}

export interface ComparisonResult extends Pick<Comparison, "title" | "unit" | "better"> {
  readonly repeats: number;
  readonly measurements: readonly Measurement[];
  /** Contenders that failed, and so have no measurement. */
  readonly failed: readonly string[];
  /** Whose median is the best. */
  readonly winner: string;
  readonly pledges: readonly JudgedPledge[];
}

export interface MeasureOptions {
  readonly repeats: number;
  /** A first turn warms up connections, plans and compiled code, and does not count. */
  readonly warmUp: boolean;
  /** Told of every measurement, so that a run that is broken off has said something. */
  readonly note: (text: string) => void;
}

export async function measure(comparison: Comparison, options: MeasureOptions): Promise<ComparisonResult> {
  const { title, unit, better } = comparison;
  const repeats = Math.min(options.repeats, comparison.repeats ?? options.repeats);
  const firstTurn = options.warmUp && comparison.warmUp !== false ? 0 : 1;
  const runs = comparison.contenders.map((contender): Run => ({ contender, samples: [], hasFailed: false }));
  try {
    for (let turn = firstTurn; turn <= repeats; turn += 1) {
      for (const run of runs) {
        const place = turn === 0 ? "warm-up" : `${turn} of ${repeats}`;
        await measureOnce(run, {
          counts: turn > 0,
          tell: (text) => options.note(`${place}, ${run.contender.name}: ${text}`),
          unit,
        });
      }
    }
  } finally {
    for (const { contender } of runs) await contender.close?.();
  }
  const valid = runs.filter(({ hasFailed }) => !hasFailed);
  const measurements = valid.map(({ contender, samples }) =>
    summaryOf(contender.name, samples, valid[0]?.samples ?? []),
  );
  const best = [...measurements].sort((a, b) => (better === "more" ? b.median - a.median : a.median - b.median))[0];
  const pledges = (comparison.pledges ?? []).flatMap((pledge) => judge(pledge, better, measurements));
  const failed = runs.filter(({ hasFailed }) => hasFailed).map(({ contender }) => contender.name);
  return { title, unit, better, repeats, measurements, failed, winner: best?.contender ?? "", pledges };
}

interface Run {
  readonly contender: Contender;
  readonly samples: Sample[];
  hasFailed: boolean;
}

interface MeasureOnce {
  readonly counts: boolean;
  readonly unit: string;
  tell(text: string): void;
}

async function measureOnce(run: Run, { counts, unit, tell }: MeasureOnce): Promise<void> {
  if (run.hasFailed) return;
  try {
    const sample = await run.contender.measure();
    if (!Number.isFinite(sample.value)) throw new Error("too little happened to measure it");
    tell(`${rounded(sample.value)} ${unit}`);
    if (counts) run.samples.push(sample);
  } catch (error) {
    if (run.contender.mayFail !== true) throw error;
    run.hasFailed = true;
    tell(`failed, and is left out: ${(error as Error).message}`);
  }
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
  return [
    { ...pledge, better, measured, kept: better === "more" ? measured >= pledge.bound : measured <= pledge.bound },
  ];
}
