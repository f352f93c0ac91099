/** The port of the schedules: which there are, which have come, and the compare-and-set that stores an occurrence once. */

/** A schedule as a queue's settings name it. */
export interface ScheduleEntry {
  /** Hash of cron, time zone and message. */
  readonly entry: string;
  readonly cron: string;
  readonly timeZone: string;
  /** JSON array of one message. */
  readonly payload: string;
  readonly catchUp: number;
  /** The first occurrence, for an entry that is new; absent: there is none. */
  readonly nextAt?: Date;
}

/** A schedule that is kept. */
export interface ScheduleView {
  readonly queue: string;
  readonly entry: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly catchUp: number;
  readonly payload: string;
  /** Absent: it never comes again. */
  readonly nextAt?: Date;
  /** The newest occurrence that was stored. */
  readonly lastAt?: Date;
}

/** A schedule whose time has come. */
export interface DueSchedule extends Pick<ScheduleView, "queue" | "entry" | "cron" | "timeZone" | "catchUp"> {
  readonly nextAt: Date;
}

export interface DueSchedules {
  readonly due: readonly DueSchedule[];
  /** The database's clock. */
  readonly now: Date;
  /** Until the next one comes; absent: there is none, or too many have come for one answer. */
  readonly nextInMs?: number;
}

export interface ScheduleBook {
  /** The database's clock: occurrences are computed from it, never from the node's own. */
  now(): Promise<Date>;
  /** Makes these the queue's schedules; what is kept already keeps its place in time. No change under a newer version. */
  keep(queue: string, version: number, entries: readonly ScheduleEntry[]): Promise<void>;
  due(): Promise<DueSchedules>;
  /** Stores occurrences of a due schedule and moves it on; how many, or undefined when another node has. Wakes. */
  occur(due: DueSchedule, occurrences: readonly Date[], following: Date | undefined): Promise<number | undefined>;
  list(): Promise<readonly ScheduleView[]>;
}
