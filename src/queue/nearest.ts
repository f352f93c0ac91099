/** "Did you mean": the known names that a misspelt one most likely stands for. */
import { distance } from "fastest-levenshtein";

/** At most three, nearest first; none that differs in more than a third of the letters. */
export function nearest(name: string, known: readonly string[]): readonly string[] {
  const limit = Math.max(1, Math.floor(name.length / 3));
  return known
    .map((other) => ({ other, edits: distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ other }) => other);
}
