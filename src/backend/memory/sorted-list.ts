/** A list kept in order. What is new mostly belongs at its end, and what is taken is mostly at its head. */

export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  #items: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    const last = this.#items.at(-1);
    if (last === undefined || this.#compare(last, item) <= 0) this.#items.push(item);
    else this.#items.splice(this.#placeOf(item), 0, item);
  }

  delete(item: T): void {
    const place = this.#placeOf(item);
    if (this.#items[place] === item) this.#items.splice(place, 1);
  }

  /** The first items that pass, at most `limit`. They stay. */
  first(limit: number, passes: (item: T) => boolean = () => true): T[] {
    const found: T[] = [];
    for (const item of this.#items) {
      if (found.length >= limit) break;
      if (passes(item)) found.push(item);
    }
    return found;
  }

  #placeOf(item: T): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#items[middle] as T, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
