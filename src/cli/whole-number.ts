/** Values on the command line that are numbers. */
import { InvalidArgumentError } from "commander";
import { isId } from "../inspect/inspect-options.js";

/** An option's value as a whole number. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("It must be a whole number above 0.");
}

/** The number of a dead letter, as `dead list` prints it. */
export function deadId(text: string): string {
  if (isId(text)) return text;
  throw new InvalidArgumentError("It must be a dead id, a whole number as `dead list` prints it.");
}

/** Several of them, as commander gathers them. */
export function deadIds(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, deadId(text)];
}
