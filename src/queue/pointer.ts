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

/** The unescaped parts of a pointer; none for the whole document. */
export function pointerParts(pointer: string): readonly string[] {
  return pointer.split("/").slice(1).map(unescapedPart);
}

export function unescapedPart(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

export function escapedPart(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
