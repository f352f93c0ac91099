/** A case of the conformance suite: one rule, run on one backend. Independent of any test runner. */
import type { Subject } from "./subject.js";

export interface ConformanceCase {
  /** What is promised, as a sentence. */
  readonly name: string;
  /** The rules it belongs to, as `R1`. */
  readonly rule: string;
  /** Rejects where the backend does not keep it. */
  run(subject: Subject): Promise<void>;
}
