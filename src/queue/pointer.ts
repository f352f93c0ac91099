/** JSON Pointer (RFC 6901): reading what one names. */

/** The value a pointer names, or undefined where there is none. Inherited properties are not there. */
export function valueAt(value: unknown, pointer: string): unknown {
  let current = value;
  for (const part of pointerParts(pointer)) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return undefined;
    current = (current as Record<string, unknown>)[part];
  }
  return current;
}

/** The unescaped parts of a pointer; none for the whole document. */
export function pointerParts(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
