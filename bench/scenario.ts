/** What a benchmark is: contenders that do the same job, on the same server, in turn. */
import type { PromiseName } from "./promises.js";
import type { SystemEntry } from "./systems/catalogue.js";

/** `tiny` takes seconds and only shows that it works; `long` is for an hour when nobody waits. */
export type Size = "tiny" | "full" | "long";

/** What a scenario may use. */
export interface Bench {
  /** A fresh, migrated database of this run; through the slow network where one was asked for. */
  readonly connectionString: string;
  /** The same, never through the slow network: for the scenario's own questions. */
  readonly directConnectionString: string;
  readonly size: Size;
  /** Time of one measurement, in ms. */
  readonly measureMs: number;
  /** The peers to compare with: those that are installed, unless the run leaves them out. */
  readonly peers: readonly SystemEntry[];
  /** Something worth telling while it runs. */
  note(text: string): void;
  /** Answered requests since the start of the run, over all connections through the slow network; undefined without it. */
  roundTrips(): number | undefined;
}

/** What one measurement achieved. */
export interface Sample {
  /** In the comparison's unit. */
  readonly value: number;
  /** What else the same run shows, by a name with its unit: `p99, ms`. */
  readonly also?: Readonly<Record<string, number>>;
}

/** One way to do the job. */
export interface Contender {
  readonly name: string;
  /** Runs once for about `measureMs`. */
  measure(): Promise<Sample>;
  close?(): Promise<void>;
  /** Where it fails, it is left out, which the run says; others end the run. */
  readonly mayFail?: boolean;
}

/** What the product promises: a bound of a contender's median, by itself or as a ratio to the best of others. */
export interface Pledge {
  /** What of `promises.ts` it judges, alone or with others. */
  readonly promise?: PromiseName;
  readonly contender: string;
  /** One of `also` instead of the value. */
  readonly of?: string;
  /** Contenders; those that were not run are left out, and without any of them the pledge is not judged. Absent: absolute. */
  readonly against?: readonly string[];
  readonly bound: number;
  /** Whether the bound is a lower or an upper one. Default: as the comparison's `better`. */
  readonly better?: "more" | "less";
}

/** A group of contenders. Ratios are to the first one. */
export interface Comparison {
  readonly title: string;
  readonly unit: string;
  /** `more` for throughput, `less` for latency. */
  readonly better: "more" | "less";
  readonly contenders: readonly Contender[];
  readonly pledges?: readonly Pledge[];
  /** Measurements of each, where one takes so long that the run's own number would be too many. */
  readonly repeats?: number;
  /** Whether a turn that does not count goes before. Default true; not where a measurement warms up by itself. */
  readonly warmUp?: boolean;
}

export interface Scenario {
  readonly name: string;
  /** What is done, for somebody who has never seen it. */
  readonly description: string;
  prepare(bench: Bench): Promise<readonly Comparison[]>;
}
