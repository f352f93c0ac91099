/** The progress store in SQL. */
import type { Lease } from "../../batch/batch.js";
import type { Progress, ProgressStore, ProgressUpdate } from "../progress-store.js";
import type { Connections } from "./connection.js";
import type { SchemaName } from "./schema-name.js";
import { readStoredText, storableText } from "./stored-text.js";

export class PostgresProgress implements ProgressStore {
  readonly #connections: Connections;
  readonly #schema: string;

  constructor(connections: Connections, { quoted }: SchemaName) {
    this.#connections = connections;
    this.#schema = quoted;
  }

  async get(key: string): Promise<Progress | undefined> {
    const { rows } = await this.#connections.query(`select * from ${this.#schema}.progress where key = $1`, [key]);
    const [row] = rows;
    return row === undefined ? undefined : progressOf(row);
  }

  async set(key: string, { percent, stage, state = "running" }: ProgressUpdate): Promise<void> {
    await this.#connections.query(`select ${this.#schema}.write_progress($1, $2, $3, $4)`, [
      key,
      percent ?? null,
      stage === undefined ? null : storableText(stage),
      state,
    ]);
  }

  async setOf(lease: Lease, { percent, stage }: { readonly percent: number; readonly stage?: string }) {
    const { rows } = await this.#connections.query(
      `select ${this.#schema}.progress_of_batch($1, $2, $3, $4, $5) as ours`,
      [lease.queue, lease.id, lease.token, percent, stage === undefined ? null : storableText(stage)],
    );
    return rows[0]?.ours === true;
  }

  async purge(before: Date): Promise<number> {
    const { rows } = await this.#connections.query(
      `with gone as (delete from ${this.#schema}.progress where updated_at < $1 returning 1) select count(*) from gone`,
      [before],
    );
    return Number(rows[0]?.count);
  }
}

function progressOf(row: Record<string, unknown>): Progress {
  return {
    key: row.key as string,
    percent: row.percent as number,
    state: row.state as Progress["state"],
    updatedAt: row.updated_at as Date,
    ...(row.stage === null ? {} : { stage: readStoredText(row.stage as string) }),
  };
}
