/** What a contender is, by the name it has in the tables. */
import type { ComparisonResult, Measurement } from "../measure.js";

export type Kind = "postrider" | "plain SQL" | "peer";

export function kindOf(contender: string): Kind {
  if (contender.startsWith("postrider")) return "postrider";
  return contender.startsWith("plain SQL") ? "plain SQL" : "peer";
}

/** The best of a kind in a comparison, where there is one. */
export function bestOf({ measurements, better }: ComparisonResult, kind: Kind): Measurement | undefined {
  return measurements
    .filter(({ contender }) => kindOf(contender) === kind)
    .sort((a, b) => (better === "more" ? b.median - a.median : a.median - b.median))[0];
}

/** How many times better one is than the other; below 1 where it is worse. */
export function timesBetter(better: "more" | "less", own: number, other: number): number {
  return better === "more" ? own / other : other / own;
}
