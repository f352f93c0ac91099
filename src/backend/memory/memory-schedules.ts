/** The schedules in memory. */
import { encodeMeta } from "../../batch/payload.js";
import type { DueSchedule, DueSchedules, ScheduleBook, ScheduleEntry, ScheduleView } from "../schedule-book.js";
import type { Store } from "./store.js";

/** A schedule, and the version of its message. */
export type KeptSchedule = { -readonly [Key in keyof ScheduleView]: ScheduleView[Key] } & { version: number };

export class MemorySchedules implements ScheduleBook {
  readonly #store: Store;
  readonly #wake: (queue: string) => void;

  constructor(store: Store, wake: (queue: string) => void) {
    this.#store = store;
    this.#wake = wake;
  }

  async now(): Promise<Date> {
    return new Date(this.#store.now());
  }

  async keep(queue: string, version: number, entries: readonly ScheduleEntry[]): Promise<void> {
    if (this.#store.queue(queue).version > version) return;
    const { schedules } = this.#store;
    const kept = new Set(entries.map(({ entry }) => entry));
    for (const [key, known] of schedules) if (known.queue === queue && !kept.has(known.entry)) schedules.delete(key);
    for (const entry of entries) {
      const known = schedules.get(keyOf(queue, entry.entry));
      if (known === undefined) schedules.set(keyOf(queue, entry.entry), { ...entry, queue, version });
      else Object.assign(known, { catchUp: entry.catchUp, version });
    }
  }

  async due(): Promise<DueSchedules> {
    const now = this.#store.now();
    const coming = [...this.#store.schedules.values()].filter((known) => known.nextAt !== undefined) as DueSchedule[];
    coming.sort((a, b) => a.nextAt.getTime() - b.nextAt.getTime());
    const due = coming.filter(({ nextAt }) => nextAt.getTime() <= now);
    const next = coming[due.length];
    return {
      due: due.map((known) => ({ ...known })),
      now: new Date(now),
      ...(next === undefined ? {} : { nextInMs: Math.ceil(next.nextAt.getTime() - now) }),
    };
  }

  async occur({ queue, entry, nextAt }: DueSchedule, occurrences: readonly Date[], following: Date | undefined) {
    const known = this.#store.schedules.get(keyOf(queue, entry));
    if (known?.nextAt?.getTime() !== nextAt.getTime() || nextAt.getTime() > this.#store.now()) return undefined;
    if (following === undefined) delete known.nextAt;
    else known.nextAt = following;
    const { payload, version } = known;
    for (const at of occurrences) {
      known.lastAt = at;
      const batch = { queue, version, payload, bytes: Buffer.byteLength(payload), messageCount: 1, priority: 100 };
      const meta = encodeMeta([{ "scheduled-at": at.toISOString() }]);
      this.#store.publish(this.#store.inLine(meta === undefined ? batch : { ...batch, meta }), this.#store.nextId());
    }
    this.#wake(queue);
    return occurrences.length;
  }

  async list(): Promise<readonly ScheduleView[]> {
    const byQueue = (a: ScheduleView, b: ScheduleView) =>
      a.queue < b.queue
        ? -1
        : a.queue > b.queue
          ? 1
          : (a.nextAt?.getTime() ?? Infinity) - (b.nextAt?.getTime() ?? Infinity);
    return [...this.#store.schedules.values()].map(({ version: _, ...view }) => view).sort(byQueue);
  }
}

function keyOf(queue: string, entry: string): string {
  return JSON.stringify([queue, entry]);
}
