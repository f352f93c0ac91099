/** Values of command-line options. */
import { InvalidArgumentError } from "commander";

export function positive(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("a whole number above 0 is wanted");
}

export function range(text: string): { readonly minMs: number; readonly maxMs: number } {
  const [minMs, maxMs = minMs] = text.split("-").map(Number);
  if (minMs === undefined || maxMs === undefined || !(minMs >= 0) || !(maxMs >= minMs)) {
    throw new InvalidArgumentError("milliseconds are wanted: 5, or 2-8");
  }
  return { minMs, maxMs };
}
