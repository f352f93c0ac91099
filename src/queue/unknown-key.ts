/** A misspelt option: `delayms` would publish at once what was meant for later, and say nothing. */
import { nearest } from "./nearest.js";

/** What is wrong with an object of options, as a sentence; undefined where every key is known. */
export function unknownKey(options: object, known: ReadonlySet<string>): string | undefined {
  for (const key of Object.keys(options)) {
    if (known.has(key)) continue;
    const near = nearest(key, [...known]).map((name) => `"${name}"`);
    const hint = near.length === 0 ? `known are ${[...known].join(", ")}` : `did you mean ${near.join(" or ")}?`;
    return `"${key}" is no option; ${hint}`;
  }
  return undefined;
}
