/**
 * The key of a message for `unique` and `orderBy`: the values at the pointers, as text. The SQL function `message_key`
 * makes the same text, so that messages of plain SQL and of the library meet in one key.
 */
import { createHash } from "node:crypto";
import { valueAt } from "../queue/pointer.js";

/** Longer keys are kept as their digest: an index entry holds some 2,700 bytes. */
const maxKeyBytes = 200;

/** Undefined where the message lacks one of the values. `message` is what its JSON reads back as. */
export function messageKey(pointers: readonly string[], message: unknown): string | undefined {
  const values = pointers.map((pointer) => valueAt(message, pointer));
  return values.includes(undefined) ? undefined : keyOfValues(values);
}

/** The key of a message with these values at the pointers, in their order. */
export function keyOfValues(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === "number" ? decimalText(value) : JSON.stringify(value)));
  const key = texts.join(",");
  if (Buffer.byteLength(key) <= maxKeyBytes) return key;
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/** Without an exponent: a number is the same key however it is written. */
function decimalText(value: number): string {
  const text = JSON.stringify(value);
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (parts === null) return text;
  const [, sign = "", whole = "", fraction = "", exponent] = parts;
  const digits = whole + fraction;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, "0")}`;
}
