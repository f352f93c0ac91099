/** The port of the progress store: how far a batch, a chain or anything else with a key has come. */
import type { Lease } from "../batch/batch.js";

/** How far something has come. */
export interface Progress {
  /** `chain:<id>`, a batch's id, or the key that was given. */
  readonly key: string;
  /** 0 to 100. */
  readonly percent: number;
  readonly stage?: string;
  readonly state: "running" | "finished" | "failed";
  /** By the database's clock. */
  readonly updatedAt: Date;
}

/** What is written. What is absent stays as it was. */
export interface ProgressUpdate {
  readonly percent?: number;
  readonly stage?: string;
  /** Default `running`. */
  readonly state?: Progress["state"];
}

export interface ProgressStore {
  get(key: string): Promise<Progress | undefined>;
  /** The last writer wins. Tells the sessions that listen. */
  set(key: string, update: ProgressUpdate): Promise<void>;
  /** Written only while the lease is held; false when it was lost. Of a chain's step: the whole chain's progress. */
  setOf(lease: Lease, update: { readonly percent: number; readonly stage?: string }): Promise<boolean>;
  /** Deletes what was last written before then; how many. */
  purge(before: Date): Promise<number>;
}
