/** JSON Pointers (RFC 6901). */

/** The pointer of a member. */
export function childPointer(pointer: string, key: string | number): string {
  return `${pointer}/${typeof key === "string" && /[~/]/.test(key) ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key}`;
}

/** The parts of a pointer, unescaped. */
export function pointerParts(pointer: string): string[] {
  const parts = pointer.split("/").slice(1);
  return pointer.includes("~") ? parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")) : parts;
}

/** What a pointer leads to, or `undefined`. Looks at own members only. */
export function valueAt(root: unknown, pointer: string): unknown {
  let current = root;
  for (const part of pointerParts(pointer)) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return undefined;
    current = (current as Record<string, unknown>)[part];
  }
  return current;
}
