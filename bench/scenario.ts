/** What a benchmark is: contenders that do the same job, on the same server, in turn. */

/** What a scenario may use. */
export interface Bench {
  /** A fresh, migrated database of this run. */
  readonly connectionString: string;
  /** Time of one measurement, in ms. */
  readonly measureMs: number;
  /** Something worth telling while it runs. */
  note(text: string): void;
}

/** One way to do the job. */
export interface Contender {
  readonly name: string;
  /** Runs once for about `measureMs`; what it achieved, in the scenario's unit. */
  measure(): Promise<number>;
  close?(): Promise<void>;
}

/** A group of contenders that are compared with its first one. */
export interface Comparison {
  readonly title: string;
  readonly unit: string;
  /** `more` for throughput, `less` for latency. */
  readonly better: "more" | "less";
  readonly contenders: readonly Contender[];
  /** What the product promises of a contender, as a ratio to the first one. */
  readonly promises?: Readonly<Record<string, number>>;
}

export interface Scenario {
  readonly name: string;
  readonly description: string;
  prepare(bench: Bench): Promise<readonly Comparison[]>;
}
