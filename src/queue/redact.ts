/** `x-queue.redact`: which places of a message are never shown. */

/** Whether a place is under a redact pointer; `*` in a pointer stands for any key or index. */
export function isRedacted(pointer: string, redact: readonly string[]): boolean {
  const parts = pointer.split("/");
  return redact.some((pattern) => {
    const wanted = pattern.split("/");
    return wanted.length <= parts.length && wanted.every((part, index) => part === "*" || part === parts[index]);
  });
}
