/** How far a call of `each` has come: which of its messages have begun, which have ended, and how. */
import type { DeadLetter } from "../errors.js";
import { Gathered, type Outcome } from "./outcome.js";

/** By index: what needs no other delivery. */
export interface FinishedMessages {
  readonly done: ReadonlySet<number>;
  readonly rejected: ReadonlyMap<number, DeadLetter>;
}

// When the signal is aborted before its turn: it has failed nothing, but it is not done either.
const notStarted: Outcome = { kind: "release" };
const running: unique symbol = Symbol("running");

export class EachOutcomes {
  readonly #ofMessages: (Outcome | typeof running | undefined)[];

  constructor(messageCount: number) {
    this.#ofMessages = new Array(messageCount).fill(undefined);
  }

  begin(index: number): void {
    this.#ofMessages[index] = running;
  }

  end(index: number, outcome: Outcome): void {
    this.#ofMessages[index] = outcome;
  }

  /** What has ended for good so far. */
  finished(): FinishedMessages {
    const done = new Set<number>();
    const rejected = new Map<number, DeadLetter>();
    for (const [index, outcome] of this.#ofMessages.entries()) {
      if (typeof outcome !== "object") continue;
      if (outcome.kind === "ack") done.add(index);
      if (outcome.kind === "reject") rejected.set(index, outcome.error);
    }
    return { done, rejected };
  }

  /** What the whole call comes to; `late` is the outcome of what still runs (D11). */
  result(late: Outcome = notStarted): Outcome {
    const all = this.#ofMessages.map((outcome) => (outcome === running ? late : (outcome ?? notStarted)));
    const [only] = all;
    if (only !== undefined && all.length === 1) return only;
    const gathered = new Gathered();
    for (const [index, outcome] of all.entries()) gathered.add(outcome, index, index + 1);
    return gathered.result(all.length);
  }
}
