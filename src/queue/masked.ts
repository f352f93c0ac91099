/** A message without what its queue never shows. */
import { escapedPart } from "./pointer.js";
import { isRedacted } from "./redact.js";

const shown = "(redacted)";
/** Shorter values would mask half of every text they occur in by chance. */
const leastMaskedLength = 4;

/** A copy of the value with `(redacted)` at every redacted place. */
export function masked(value: unknown, redact: readonly string[], at = ""): unknown {
  if (redact.length === 0) return value;
  if (at !== "" && isRedacted(at, redact)) return shown;
  if (Array.isArray(value)) return value.map((item, index) => masked(item, redact, `${at}/${index}`));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [
    key,
    masked(member, redact, `${at}/${escapedPart(key)}`),
  ]);
  return Object.fromEntries(members);
}

/** A text about these messages, with the values of their redacted places masked, from four characters on. */
export function maskedText(text: string, messages: readonly unknown[], redact: readonly string[]): string {
  const secrets = messages.flatMap((message) => secretsIn(message, redact, "", false));
  // The longest first, or a part of it would be left.
  const inOrder = secrets.filter(({ length }) => length >= leastMaskedLength).sort((a, b) => b.length - a.length);
  return inOrder.reduce((masked, secret) => masked.replaceAll(secret, shown), text);
}

function secretsIn(value: unknown, redact: readonly string[], at: string, inside: boolean): readonly string[] {
  const isSecret = inside || (at !== "" && isRedacted(at, redact));
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, member]) =>
      secretsIn(member, redact, `${at}/${escapedPart(key)}`, isSecret),
    );
  }
  return isSecret && (typeof value === "string" || typeof value === "number") ? [String(value)] : [];
}
