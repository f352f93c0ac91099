/**
 * Stores the occurrences of schedules (J6). Every node that declares one runs this, and none leads: each computes what is due
 * from the database's clock, and the compare-and-set of a schedule's next time lets one of them store it.
 */
import { createHash } from "node:crypto";
import type { DueSchedule, ScheduleBook, ScheduleEntry } from "../backend/schedule-book.js";
import { PostriderError } from "../errors.js";
import type { Instrument } from "../instrument.js";
import { type CronRule, dueOccurrences, nextOccurrence } from "../queue/cron.js";
import { explain } from "../queue/explain.js";
import type { QueueDefinition, ScheduleRule } from "../queue/queue.js";
import type { Service } from "../service.js";
import { doublingMs, jitterDown, pause } from "../time.js";

/** Between two looks while nothing comes: other nodes may have brought new schedules. */
const lookEveryMs = 30_000;

export interface SchedulerParams {
  readonly book: ScheduleBook;
  readonly instrument: Instrument;
  readonly definitions: () => readonly QueueDefinition[];
}

export class Scheduler implements Service {
  readonly #params: SchedulerParams;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(params: SchedulerParams) {
    this.#params = params;
  }

  /**
   * Makes the declared schedules those of the database, and takes out what is no longer declared.
   * @throws PostriderError `ERR_QUEUE_OPTIONS` for a message that does not fit its queue
   */
  async keep(): Promise<void> {
    const { book, definitions } = this.#params;
    const known = definitions();
    if (known.length === 0) return;
    const kept = new Set((await book.list()).map(({ queue }) => queue));
    const concerned = known.filter(({ name, settings }) => settings.schedule !== undefined || kept.has(name));
    if (concerned.length === 0) return;
    const now = await book.now();
    for (const definition of concerned) {
      const { name, settings } = definition;
      const entries = (settings.schedule ?? []).map((rule) => entryOf(definition, rule, now));
      await book.keep(name, settings.version, entries);
    }
  }

  async start(): Promise<void> {
    if (this.#params.definitions().some(({ settings }) => settings.schedule !== undefined)) this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Stores what is due; how long until the next comes, in ms. */
  async round(): Promise<number> {
    const { book } = this.#params;
    const { due, now, nextInMs = Number.POSITIVE_INFINITY } = await book.due();
    for (const schedule of due) await this.#occur(schedule, now);
    return due.length > 0 ? 0 : nextInMs;
  }

  async #occur(schedule: DueSchedule, now: Date): Promise<void> {
    const { book, instrument } = this.#params;
    const { queue, nextAt: from, catchUp } = schedule;
    const occurrences = dueOccurrences(schedule, { from, now, catchUp });
    const stored = await book.occur(schedule, occurrences, nextOccurrence(schedule, now));
    if (stored) instrument.emit("published", { queue, messages: stored });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const nextInMs = await this.round();
        failures = 0;
        await pause(Math.min(nextInMs, jitterDown(lookEveryMs)), signal);
      } catch (error) {
        this.#params.instrument.emit("error", { part: "scheduler", error });
        await pause(doublingMs(failures, 200, 5_000), signal);
        failures += 1;
      }
    }
  }
}

function entryOf(definition: QueueDefinition, rule: ScheduleRule, now: Date): ScheduleEntry {
  const { cron, timeZone, message, catchUp } = rule;
  if (!definition.validatePublish(message)) {
    const { text } = explain(definition, definition.validatePublish.errors ?? [], message);
    throw new PostriderError(
      "ERR_QUEUE_OPTIONS",
      `queue "${definition.name}": the message of schedule "${cron}": ${text}`,
    );
  }
  const nextAt = nextOccurrence(rule satisfies CronRule, now);
  const payload = JSON.stringify([message]);
  const entry = createHash("sha256")
    .update(JSON.stringify([cron, timeZone, message]))
    .digest("hex")
    .slice(0, 32);
  return { entry, cron, timeZone, payload, catchUp, ...(nextAt === undefined ? {} : { nextAt }) };
}
