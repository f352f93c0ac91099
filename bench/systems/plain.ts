/**
 * Plain SQL by `pg`: INSERT, and DELETE … SKIP LOCKED RETURNING. One statement each, so it is as fast as a table can be used as
 * a queue, and it is less than a queue: what a process holds when it dies is gone, nothing is retried, nothing validated.
 */
import pg from "pg";
import type { OrderPlaced } from "../../generated/index.js";
import type { Adapter, System, SystemOptions } from "./system.js";

export interface PlainOptions {
  readonly table: string;
  /** Messages that `publishMany` puts into one row. */
  readonly messagesPerRow: number;
  /** Rows that one DELETE takes. */
  readonly rowsPerClaim: number;
}

export function plainAdapter(plain: PlainOptions): Adapter {
  return {
    prepare: async ({ connectionString }) => {
      const client = new pg.Client(connectionString);
      await client.connect();
      await client.query(
        `create table if not exists ${plain.table} (
           id bigint generated always as identity, queue text not null, payload text not null, primary key (queue, id))`,
      );
      await client.end();
    },
    open: async (options) => open(plain, options),
  };
}

function open({ table, messagesPerRow, rowsPerClaim }: PlainOptions, options: SystemOptions): System {
  const pool = new pg.Pool({ connectionString: options.connectionString, max: 10 });
  pool.on("error", () => undefined);
  const listening = new pg.Client(options.connectionString);
  let consuming: Promise<unknown> = Promise.resolve();
  let isStopped = false;
  let ring = () => {};
  // One statement and so one transaction, as few round trips as plain SQL can do with.
  const insert = options.wake
    ? `with sent as (select pg_notify('${table}', '')) insert into ${table} (queue, payload) select $1, p from unnest($2::text[]) p, sent`
    : `insert into ${table} (queue, payload) select $1, unnest($2::text[])`;
  const insertOne = options.wake
    ? `with sent as (select pg_notify('${table}', '')) insert into ${table} (queue, payload) select $1, $2 from sent`
    : `insert into ${table} (queue, payload) values ($1, $2)`;
  const claim = `delete from ${table} where (queue, id) in
    (select queue, id from ${table} where queue = $1 order by id limit ${rowsPerClaim} for update skip locked) returning payload`;

  const work = async (queues: readonly string[], handle: (messages: readonly OrderPlaced[]) => unknown) => {
    while (!isStopped) {
      let found = 0;
      const rung = new Promise<void>((resolve) => {
        ring = resolve;
      });
      for (const queue of queues) {
        const { rows } = await pool.query<{ payload: string }>(claim, [queue]);
        found += rows.length;
        if (rows.length > 0) await handle(rows.flatMap(({ payload }) => JSON.parse(payload) as OrderPlaced[]));
      }
      if (found === 0) await Promise.race([rung, new Promise((resolve) => setTimeout(resolve, 500).unref())]);
    }
  };

  // One row at a time under a lock that all processes wait for.
  const workAlone = async (queues: readonly string[], handle: (messages: readonly OrderPlaced[]) => unknown) => {
    const client = await pool.connect();
    const one = `delete from ${table} where (queue, id) in
      (select queue, id from ${table} where queue = $1 order by id limit 1 for update skip locked) returning payload`;
    while (!isStopped) {
      let found = 0;
      for (const queue of queues) {
        await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [queue]);
        const { rows } = await client.query<{ payload: string }>(one, [queue]);
        found += rows.length;
        if (rows.length > 0) await handle(rows.flatMap(({ payload }) => JSON.parse(payload) as OrderPlaced[]));
        await client.query("select pg_advisory_unlock(hashtextextended($1, 0))", [queue]);
      }
      if (found === 0) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    client.release();
  };

  return {
    publish: (queue, message) => pool.query(insertOne, [queue, JSON.stringify([message])]),
    publishMany: (queue, messages) => {
      const rows: string[] = [];
      for (let from = 0; from < messages.length; from += messagesPerRow) {
        rows.push(JSON.stringify(messages.slice(from, from + messagesPerRow)));
      }
      return pool.query(insert, [queue, rows]);
    },
    consume: async (queues, handle) => {
      listening.on("notification", () => ring());
      await listening.connect();
      await listening.query(`listen ${table}`);
      consuming = options.exclusive === true ? workAlone(queues, handle) : work(queues, handle);
    },
    stop: async () => {
      isStopped = true;
      ring();
      await consuming;
      await listening.end();
      await pool.end();
    },
  };
}
