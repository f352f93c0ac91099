/** Sessions for tests that force an interleaving: what one has not committed, and what another does meanwhile. */
import pg from "pg";
import { eventually } from "../support/eventually.js";

/** Where sessions are closed at the end: a test. */
interface Ending {
  after(fn: () => Promise<void>): void;
}

export interface Session {
  /** The rows. */
  ask(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Resolves once the session's running statement waits for a lock. */
  waits(): Promise<void>;
  /** Resolves when nothing of it is left. */
  end(): Promise<void>;
}

/** As many sessions as asked for. A statement that waits for over three seconds fails. */
export async function sessions(t: Ending, connectionString: string, count: number): Promise<Session[]> {
  return await Promise.all(Array.from({ length: count }, () => openSession(t, connectionString)));
}

async function openSession(t: Ending, connectionString: string): Promise<Session> {
  const client = new pg.Client({ connectionString, application_name: "a session under test" });
  const watcher = new pg.Client({ connectionString, application_name: "its watcher" });
  await Promise.all([client.connect(), watcher.connect()]);
  await client.query("set lock_timeout = '3s'");
  const { rows } = await client.query("select pg_backend_pid() as pid");
  const end = async () => {
    await Promise.all([client.end(), watcher.end()]);
  };
  t.after(end);
  return {
    ask: async (text, values) => (await client.query(text, values)).rows,
    waits: () =>
      eventually(
        async () => {
          const state = await watcher.query("select wait_event_type from pg_stat_activity where pid = $1", [
            rows[0].pid,
          ]);
          return state.rows[0]?.wait_event_type === "Lock";
        },
        { otherwise: "the session does not wait for a lock" },
      ),
    end,
  };
}
