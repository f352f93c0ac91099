/** Which progress was written just now, as far as this process hears of it: by itself, or by a notification. Hints only. */

export class ProgressNews {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Ends the waits for this key. */
  tell(key: string): void {
    for (const wake of this.#waiting.get(key) ?? []) wake();
  }

  /** Calls `wake` at every news of the key, until the returned function is called. */
  hear(key: string, wake: () => void): () => void {
    const all = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, all);
    all.add(wake);
    return () => {
      all.delete(wake);
      if (all.size === 0 && this.#waiting.get(key) === all) this.#waiting.delete(key);
    };
  }
}
