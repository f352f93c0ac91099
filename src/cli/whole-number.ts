/** An option's value as a whole number. */
import { InvalidArgumentError } from "commander";

export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("It must be a whole number above 0.");
}
