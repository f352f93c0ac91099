/** "Did you mean": the nearest known word. */
import { distance } from "fastest-levenshtein";

/** The known word that a misspelt one most likely stands for; none that differs in more than a third of the letters. */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  let best: { word: string; edits: number } | undefined;
  for (const candidate of known) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits <= Math.max(1, Math.floor(word.length / 3)) && edits < (best?.edits ?? Infinity))
      best = { word: candidate, edits };
  }
  return best?.word;
}
