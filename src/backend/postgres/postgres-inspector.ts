/** What operators ask and do, in SQL. Counts are bounded, so that a backlog of millions costs what ten thousand do. */
import { messageId } from "../../batch/batch.js";
import { decodePayload } from "../../batch/payload.js";
import type { QueueGauges } from "../../instrument.js";
import { chainViewOf } from "../chain-view.js";
import type {
  BatchView,
  DeadFilter,
  DeadLetterView,
  Death,
  Depth,
  Inspector,
  NodeView,
  StoredBatch,
  Unconsumable,
} from "../inspector.js";
import type { Connections } from "./connection.js";
import type { SchemaName } from "./schema-name.js";
import { readStoredText } from "./stored-text.js";

const countedRows = 10_000;
const gaugesWithinMs = 500;
const defaultLimit = 1_000;

export class PostgresInspector implements Inspector {
  readonly #connections: Connections;
  readonly #schema: string;

  constructor(connections: Connections, { quoted }: SchemaName) {
    this.#connections = connections;
    this.#schema = quoted;
  }

  async depths(): Promise<readonly Depth[]> {
    const rows = await this.#query(`select * from ${this.#schema}.depths($1)`, [countedRows + 1]);
    return rows.map((row) => {
      const count = (column: string) => Math.min(Number(row[column]), countedRows);
      return {
        queue: row.queue_name as string,
        pending: count("pending"),
        delayed: count("delayed"),
        processing: count("processing"),
        dead: count("dead"),
        atLeast: ["pending", "delayed", "processing", "dead"].some((column) => Number(row[column]) > countedRows),
        paused: row.paused as boolean,
        ...(row.oldest_at === null ? {} : { oldestAt: row.oldest_at as Date }),
      };
    });
  }

  async peek(queue: string, status: StoredBatch["status"], limit = 20): Promise<readonly StoredBatch[]> {
    const order = status === "delayed" ? "available_at, id" : "priority, id";
    // The status is a literal: as a parameter it could not match a partial index.
    const first = (literal: string, by: string) => `(select * from ${this.#schema}.queue_message_batch
        where queue_name = $1 and status = '${literal}' ${by} limit $2)`;
    const behind = first("behind", "and order_key is not null order by order_key, coalesce(origin_id, id), id");
    const text = first(status, `order by ${order}`) + (status === "pending" ? ` union all ${behind} limit $2` : "");
    const rows = await this.#query(text, [queue, limit]);
    return rows.map((row) => ({
      ...viewOf(row, row.id as string, row.last_error as string | null),
      status,
      ...(row.available_at === null ? {} : { availableAt: row.available_at as Date }),
    }));
  }

  async dead(filter: DeadFilter & { readonly afterDeadId?: string }): Promise<readonly DeadLetterView[]> {
    const rows = await this.#query(
      `select * from ${this.#schema}.dead_message_batch
        where queue_name = $1 and ($2::bigint[] is null or dead_id = any ($2)) and ($3::text[] is null or reason = any ($3))
          and dead_id > $5 order by dead_id limit $4`,
      [...filterOf(filter), filter.afterDeadId ?? "0"],
    );
    return rows.map((row) => ({
      ...viewOf(row, row.batch_id as string, row.error as string | null),
      deadId: row.dead_id as string,
      reason: row.reason as DeadLetterView["reason"],
      diedAt: row.died_at as Date,
    }));
  }

  async countDead(filter: DeadFilter): Promise<number> {
    const rows = await this.#query(
      `select count(*) from ${this.#schema}.dead_message_batch
        where queue_name = $1 and ($2::bigint[] is null or dead_id = any ($2)) and ($3::text[] is null or reason = any ($3))`,
      filterOf(filter).slice(0, 3),
    );
    return Number(rows[0]?.count);
  }

  async redrive(filter: DeadFilter): Promise<readonly string[]> {
    const rows = await this.#query(`select ${this.#schema}.redrive($1, $2, $3, $4) as id`, filterOf(filter));
    return rows.map(({ id }) => id as string);
  }

  async purge(filter: DeadFilter): Promise<number> {
    const rows = await this.#query(`select ${this.#schema}.purge($1, $2, $3, $4) as count`, filterOf(filter));
    return Number(rows[0]?.count);
  }

  async clear(queue: string): Promise<number> {
    let cleared = 0;
    // In portions: one statement over millions of rows would hold its locks and its snapshot for minutes.
    for (;;) {
      const portion = await this.#remove(queue, null);
      if (portion === 0) return cleared;
      cleared += portion;
    }
  }

  async cancel(queue: string, batchId: string): Promise<boolean> {
    return (await this.#remove(queue, batchId)) > 0;
  }

  async cancelKey(queue: string, key: string): Promise<boolean> {
    const removal = `select ${this.#schema}.remove_waiting($1, null, unique_key => $2) as count`;
    return Number((await this.#query(removal, [queue, key]))[0]?.count) > 0;
  }

  async pause(queue: string): Promise<void> {
    await this.#query(`select ${this.#schema}.set_paused($1, true)`, [queue]);
  }

  async resume(queue: string): Promise<void> {
    await this.#query(`select ${this.#schema}.set_paused($1, false)`, [queue]);
  }

  async settings(queue: string): Promise<unknown> {
    const recorded = `select settings from ${this.#schema}.queue where queue_name = $1 and schema_hash is not null`;
    return (await this.#query(recorded, [queue]))[0]?.settings;
  }

  async unconsumable(): Promise<readonly Unconsumable[]> {
    const rows = await this.#query(`select * from ${this.#schema}.unconsumable()`, []);
    return rows.map((row) => ({
      queue: row.queue_name as string,
      knownVersion: row.known_version as number,
      batches: Number(row.batches),
    }));
  }

  async nodes(): Promise<readonly NodeView[]> {
    const rows = await this.#query(
      `select n.*, n.stopped_at is null and (n.session_at is null or ${this.#schema}.is_alive(n.owner)) as alive
         from ${this.#schema}.node n order by n.started_at desc limit ${defaultLimit}`,
      [],
    );
    return rows.map((row) => ({
      owner: row.owner as string,
      name: row.name as string,
      startedAt: row.started_at as Date,
      alive: row.alive as boolean,
      refused: row.refused as string[],
      ...(row.stopped_at === null ? {} : { stoppedAt: row.stopped_at as Date }),
    }));
  }

  async gauges(): Promise<readonly QueueGauges[]> {
    // Two commands in one message are one transaction, also through a transaction pooler: the limit is theirs alone.
    const text = `set local statement_timeout = ${gaugesWithinMs}; select * from ${this.#schema}.gauges(${countedRows})`;
    const results = (await this.#connections.query(text)) as unknown as { rows: Record<string, unknown>[] }[];
    return (results[1]?.rows ?? []).map((row) => ({
      queue: row.queue_name as string,
      depths: {
        pending: Number(row.pending),
        delayed: Number(row.delayed),
        processing: Number(row.processing),
        dead: Number(row.dead),
      },
      estimated: row.estimated as string[],
      unconsumable: Number(row.unconsumable),
      ...(row.oldest_age_s === null ? {} : { oldestAgeMs: (row.oldest_age_s as number) * 1_000 }),
    }));
  }

  async #remove(queue: string, batchId: string | null): Promise<number> {
    const rows = await this.#query(`select ${this.#schema}.remove_waiting($1, $2) as count`, [queue, batchId]);
    return Number(rows[0]?.count);
  }

  async #query(text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
    const { rows } = await this.#connections.pool().query(text, values);
    return rows;
  }
}

function filterOf({ queue, deadIds, reasons, limit }: DeadFilter): unknown[] {
  return [queue, deadIds ?? null, reasons ?? null, limit ?? defaultLimit];
}

function viewOf(row: Record<string, unknown>, batchId: string, error: string | null): BatchView {
  const payload = row.payload as string;
  const places = { originId: (row.origin_id ?? batchId) as string, ...positionsOf(row) };
  return {
    queue: row.queue_name as string,
    batchId,
    messageIds: (decodePayload(payload) ?? []).map((_, index) => messageId(places, index)),
    payload,
    priority: row.priority as number,
    version: row.version as number,
    failures: row.failures as number,
    crashes: row.crashes as number,
    publishedAt: (row.origin_at ?? row.created_at) as Date,
    ...(row.meta === null ? {} : { meta: row.meta as string }),
    ...(row.owner === null ? {} : { owner: row.owner as string }),
    ...(error === null ? {} : { error: readStoredText(error) }),
    ...(row.chain === null ? {} : { chain: chainViewOf(row.chain as string) }),
    history: row.history === null ? [] : historyOf(row.history as string),
  };
}

function historyOf(stored: string): readonly Death[] {
  return (JSON.parse(stored) as StoredDeath[]).map(({ error, owner, diedAt, ...counts }) => ({
    ...counts,
    diedAt: new Date(diedAt),
    ...(error === null ? {} : { error: readStoredText(error) }),
    ...(owner === null ? {} : { owner }),
  }));
}

type StoredDeath = Pick<Death, "reason" | "failures" | "crashes"> & {
  readonly error: string | null;
  readonly owner: string | null;
  readonly diedAt: string;
};

function positionsOf({ positions }: Record<string, unknown>): { positions?: readonly number[] } {
  return positions === null ? {} : { positions: positions as number[] };
}
