/** JSON Pointer (RFC 6901): what one names, and how its parts are written. */

/** The value a pointer names, or undefined where there is none. Inherited properties are not there. */
export function valueAt(value: unknown, pointer: string): unknown {
  let current = value;
  for (const part of pointerParts(pointer)) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return undefined;
    current = (current as Record<string, unknown>)[part];
  }
  return current;
}

/** Parts of the pointers seen: they come from schemas and their errors, a few per queue, and are asked for with every message. */
const known = new Map<string, readonly string[]>();
const maxKnown = 1_000;

/** The unescaped parts of a pointer; none for the whole document. */
export function pointerParts(pointer: string): readonly string[] {
  const parts = known.get(pointer) ?? pointer.split("/").slice(1).map(unescapedPart);
  if (known.size < maxKnown) known.set(pointer, parts);
  return parts;
}

export function unescapedPart(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

export function escapedPart(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
