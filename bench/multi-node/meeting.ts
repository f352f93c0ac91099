/** Where the nodes of a run meet: two tables of the database they all use. The signals to go and to stop travel through it. */
import pg from "pg";
import { migrate } from "../../src/backend/postgres/migrate.js";

/** What a node does once it may go. */
export interface Work {
  readonly callers: number;
  readonly ms: number;
}

/** What became of it. */
export interface NodeResult {
  readonly publishedPerSecond: number;
  readonly handledPerSecond: number;
  readonly handled: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Order ids are unique in a run: the same one handled again, by whomever, is a duplicate. */
  readonly orderIds?: readonly string[];
}

export interface Signal {
  readonly id: number;
  /** From now until the common start, by the database's clock. */
  readonly inMs: number;
  /** Absent: the node is to stop. */
  readonly work?: Work;
}

export interface NodeRow {
  readonly name: string;
  readonly pid: number;
  /** The signal it answered last; 0 when it has only started. */
  readonly answered: number;
  readonly result: NodeResult | null;
}

const database = "postrider_bench_multi";
const channel = "bench_signal";

export function meetingUrl(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Makes the database, anew: nodes of an earlier run must have been stopped. */
export async function prepareMeeting(serverUrl: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const { rows } = await client.query("select 1 from pg_stat_activity where datname = $1", [database]);
    if (rows.length > 0) throw new Error("nodes are running already: stop them first");
    await client.query(`drop database if exists ${database}`);
    await client.query(`create database ${database}`);
  });
  const url = meetingUrl(serverUrl);
  await migrate({ database: { connectionString: url } });
  await withClient(url, (client) =>
    client.query(`
      create table bench_node (name text primary key, pid int not null, answered int not null default 0, result jsonb);
      create table bench_signal (id int generated always as identity primary key, at timestamptz not null, work jsonb)`),
  );
}

export async function dropMeeting(serverUrl: string): Promise<void> {
  await withClient(serverUrl, (client) => client.query(`drop database if exists ${database} with (force)`));
}

/** Tells every node; the id to look for in their answers. */
export async function giveSignal(client: pg.Client, work: Work | undefined): Promise<number> {
  // A second ahead, so that whoever hears of it late still starts with the others.
  const { rows } = await client.query<{ id: number }>(
    `with given as (
       insert into bench_signal (at, work) values (clock_timestamp() + interval '1 second', $1) returning id)
     select id, pg_notify('${channel}', '') from given`,
    [work === undefined ? null : JSON.stringify(work)],
  );
  return rows[0]?.id as number;
}

/** The first signal after that one; waits for it. */
export async function nextSignal(client: pg.Client, after: number): Promise<Signal> {
  await client.query(`listen ${channel}`);
  for (;;) {
    const rung = new Promise<void>((resolve) => client.once("notification", () => resolve()));
    const { rows } = await client.query<{ id: number; in_ms: string; work: Work | null }>(
      `select id, greatest(0, extract(epoch from at - clock_timestamp()) * 1000) as in_ms, work
         from bench_signal where id > $1 order by id limit 1`,
      [after],
    );
    const [found] = rows;
    if (found !== undefined) {
      return { id: found.id, inMs: Number(found.in_ms), ...(found.work === null ? {} : { work: found.work }) };
    }
    await rung;
  }
}

export async function nodesOf(client: pg.Client): Promise<readonly NodeRow[]> {
  return (await client.query<NodeRow>("select name, pid, answered, result from bench_node order by name")).rows;
}

export async function withClient<T>(connectionString: string, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connectionString);
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end();
  }
}
