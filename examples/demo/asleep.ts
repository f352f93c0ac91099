/** Whether the demo's workers sleep: what is measured is how long one takes to wake up. */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

/** Workers of the demo, and how long to wait for them: one that cannot LISTEN never sleeps. */
const workers = 2;
const withinMs = 1_000;

export class Watch {
  readonly #client: pg.Client;
  readonly #key: string;

  constructor(connectionString: string, schema: string) {
    this.#key = `${pg.escapeIdentifier(schema)}.wake_key($1)`;
    this.#client = new pg.Client({ connectionString, application_name: "postrider demo" });
    this.#client.on("error", () => undefined);
  }

  async start(): Promise<void> {
    await this.#client.connect();
  }

  /** Resolves when every worker holds the queue's SLEEP lock (step C1 of the wake-up protocol), or after a second. */
  async untilAsleep(queue: string): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (performance.now() < deadline) {
      const { rows } = await this.#client.query(
        `select count(distinct pid)::int as asleep from pg_locks
          where locktype = 'advisory' and classid = 7302 and objid = ${this.#key}
            and database = (select oid from pg_database where datname = current_database())`,
        [queue],
      );
      if (rows[0]?.asleep >= workers) return;
      await pause(5);
    }
  }

  async stop(): Promise<void> {
    await this.#client.end();
  }
}
