/** A schema of this run's own, so that nothing of an earlier run counts; on the embedded server unless DATABASE_URL is set. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { startEmbeddedPostgres } from "postrider/embedded";
import { dropSchema, migrate } from "../../src/backend/postgres/migrate.js";
import { createReceipts } from "./receipts.js";

export interface DemoDatabase {
  readonly connectionString: string;
  readonly schema: string;
  /** For the demo's own questions. */
  readonly pool: pg.Pool;
  stop(): Promise<void>;
}

const prefix = "postrider_demo_";

export async function openDemoDatabase(): Promise<DemoDatabase> {
  const server = await startEmbeddedPostgres();
  const { connectionString } = server;
  const pool = new pg.Pool({ connectionString, max: 2, application_name: "postrider demo" });
  pool.on("error", () => undefined);
  const schema = `${prefix}${today()}_${randomBytes(4).toString("hex")}`;
  const stop = async () => {
    await dropDemoSchema(pool, schema);
    await pool.end();
    await server.stop();
  };
  try {
    await dropAbandoned(pool);
    await migrate({ database: pool, schema });
    await createReceipts(pool, schema);
    return { connectionString, schema, pool, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

// A process that was just killed may have a statement under way on the server: it is waited for, and its deadlock outlived.
async function dropDemoSchema(pool: pg.Pool, schema: string): Promise<void> {
  let failure: unknown;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      await dropSchema({ database: pool, schema, lockTimeoutMs: 20_000 });
      return;
    } catch (error) {
      failure = error;
    }
  }
  process.stderr.write(`the schema ${schema} could not be dropped: ${String(failure)}\n`);
}

// What a run left behind that was killed is known by the day in its name; one of today may still be running.
async function dropAbandoned(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ nspname: string }>("select nspname from pg_namespace where nspname ~ $1", [
    `^${prefix}[0-9]{8}_`,
  ]);
  for (const { nspname } of rows) {
    if (nspname.startsWith(`${prefix}${today()}`)) continue;
    await dropSchema({ database: pool, schema: nspname });
  }
}

function today(): string {
  return new Date().toISOString().slice(0, 10).replaceAll("-", "");
}
