/**
 * Cron expressions and their occurrences, by croner: no dependencies, seconds and IANA time zones, daylight saving by a documented
 * rule, and maintained (cron-parser brings luxon along; node-cron and node-schedule only run timers of their own process).
 *
 * Daylight saving: what falls into the hour that is skipped comes at the hour's end, once. What falls into the hour that
 * repeats comes in its first pass only, where the hour is fixed (`30 2 * * *`), and in both where it is not (`0 * * * *`).
 */
import { Cron } from "croner";

/** When something is to happen. */
export interface CronRule {
  readonly cron: string;
  readonly timeZone: string;
}

/** What is wrong with a rule, and where. */
export interface CronFault {
  readonly key: keyof CronRule;
  readonly message: string;
}

/** An occurrence that is less than this late is no missed one. */
const punctualMs = 60_000;

/** Checks a rule in words; undefined when it is good. */
export function cronFault({ cron, timeZone }: CronRule): CronFault | undefined {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    return {
      key: "timeZone",
      message: `must be an IANA time zone such as "Europe/Berlin", found ${JSON.stringify(timeZone)}`,
    };
  }
  try {
    if (parsed({ cron, timeZone }).nextRun() !== null) return undefined;
    return { key: "cron", message: `never comes again: ${JSON.stringify(cron)}` };
  } catch (error) {
    const why = (error as Error).message.replace(/^CronPattern: /, "");
    return { key: "cron", message: `is no cron expression of five fields, or six with seconds first: ${why}` };
  }
}

/** The first occurrence after a time; undefined when there is none. */
export function nextOccurrence(rule: CronRule, after: Date): Date | undefined {
  return parsed(rule).nextRun(after) ?? undefined;
}

/**
 * Which of the occurrences from `from` up to `now` are to be stored, oldest first: those of the last minute, and of what was
 * missed before that so many that they are at most `catchUp` together, the newest. However long nobody has looked, no more
 * than that is computed.
 */
export function dueOccurrences(
  rule: CronRule,
  { from, now, catchUp }: { from: Date; now: Date; catchUp: number },
): Date[] {
  // One a second at most, so that this many reach back over the punctual minute.
  const most = Math.max(catchUp, punctualMs / 1_000 + 1);
  const newestFirst = parsed(rule).previousRuns(most, new Date(now.getTime() + 1));
  return newestFirst
    .filter((at) => at >= from && at <= now)
    .filter((at, index) => index < catchUp || now.getTime() - at.getTime() < punctualMs)
    .reverse();
}

function parsed({ cron, timeZone }: CronRule): Cron {
  return new Cron(cron, { timezone: timeZone, paused: true });
}
