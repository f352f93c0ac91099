/** The schedules in SQL. */
import type { DueSchedule, DueSchedules, ScheduleBook, ScheduleEntry, ScheduleView } from "../schedule-book.js";
import type { Connections } from "./connection.js";
import type { SchemaName } from "./schema-name.js";

const listedRows = 1_000;

export class PostgresSchedules implements ScheduleBook {
  readonly #connections: Connections;
  readonly #schema: string;

  constructor(connections: Connections, { quoted }: SchemaName) {
    this.#connections = connections;
    this.#schema = quoted;
  }

  async now(): Promise<Date> {
    const { rows } = await this.#connections.query("select clock_timestamp() as now", []);
    return rows[0]?.now as Date;
  }

  async keep(queue: string, version: number, entries: readonly ScheduleEntry[]): Promise<void> {
    await this.#connections.query(`select ${this.#schema}.keep_schedules($1, $2, $3, $4, $5, $6, $7, $8)`, [
      queue,
      version,
      entries.map(({ entry }) => entry),
      entries.map(({ cron }) => cron),
      entries.map(({ timeZone }) => timeZone),
      entries.map(({ payload }) => payload),
      entries.map(({ catchUp }) => catchUp),
      entries.map(({ nextAt }) => nextAt?.toISOString() ?? null),
    ]);
  }

  async due(): Promise<DueSchedules> {
    const { rows } = await this.#connections.query(`select * from ${this.#schema}.due_schedules()`, []);
    const coming = rows.find(({ wait_ms }) => Number(wait_ms) > 0);
    return {
      due: rows
        .filter(({ wait_ms }) => Number(wait_ms) === 0)
        .map((row) => ({ ...ruleOf(row), nextAt: row.next_at as Date })),
      now: (rows[0]?.now as Date | undefined) ?? new Date(0),
      ...(coming === undefined ? {} : { nextInMs: Number(coming.wait_ms) }),
    };
  }

  async occur({ queue, entry, nextAt }: DueSchedule, occurrences: readonly Date[], following: Date | undefined) {
    const { rows } = await this.#connections.query(`select ${this.#schema}.occur($1, $2, $3, $4, $5) as stored`, [
      queue,
      entry,
      nextAt.toISOString(),
      following?.toISOString() ?? null,
      occurrences.map((at) => at.toISOString()),
    ]);
    return (rows[0]?.stored as number | null) ?? undefined;
  }

  async list(): Promise<readonly ScheduleView[]> {
    const { rows } = await this.#connections.query(
      `select * from ${this.#schema}.schedule order by queue_name, next_at limit ${listedRows}`,
      [],
    );
    return rows.map((row) => ({
      ...ruleOf(row),
      payload: row.payload as string,
      ...(row.next_at === null ? {} : { nextAt: row.next_at as Date }),
      ...(row.last_at === null ? {} : { lastAt: row.last_at as Date }),
    }));
  }
}

function ruleOf(row: Record<string, unknown>): Omit<DueSchedule, "nextAt"> {
  return {
    queue: row.queue_name as string,
    entry: row.entry as string,
    cron: row.cron as string,
    timeZone: row.time_zone as string,
    catchUp: row.catch_up as number,
  };
}
