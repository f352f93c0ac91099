/** The storage of one test: a fresh memory backend, or a fresh schema in a database, dropped at the end. */
import { randomBytes } from "node:crypto";
import type { Backend } from "../backend/backend.js";
import { MemoryBackend } from "../backend/memory/memory-backend.js";
import type { PostgresPool } from "../backend/postgres/connection-options.js";
import { dropSchema, type MigrateOptions, migrate } from "../backend/postgres/migrate.js";
import { PostgresBackend } from "../backend/postgres/postgres-backend.js";
import { PostriderError } from "../errors.js";

/** Where a test's messages are. */
export interface TestStorageOptions {
  /** `memory` (the default), `postgres`, or a backend of your own, which nobody empties. */
  readonly backend?: Backend | "memory" | "postgres";
  /** A pool you own: the test's messages are in a schema of their own in its database. Implies `postgres`. */
  readonly pool?: PostgresPool;
  /** For `postgres` without a pool. */
  readonly connectionString?: string;
}

export interface TestStorage {
  readonly backend: Backend;
  /** After the client has been stopped. */
  drop(): Promise<void>;
}

export async function openTestStorage({ backend, pool, connectionString }: TestStorageOptions): Promise<TestStorage> {
  if (backend !== undefined && typeof backend !== "object" && backend !== "memory" && backend !== "postgres") {
    const message = `backend must be "memory", "postgres" or an object, found ${String(backend)}`;
    throw new PostriderError("ERR_CLIENT_OPTIONS", message);
  }
  if (typeof backend === "object") return { backend, drop: async () => undefined };
  if (backend !== "postgres" && pool === undefined && connectionString === undefined) {
    return { backend: new MemoryBackend(), drop: async () => undefined };
  }
  if (pool !== undefined) return await openSchema(pool as MigrateOptions["database"], { pool });
  if (connectionString === undefined) {
    throw new PostriderError("ERR_NO_DATABASE", "a test on postgres needs a pool or a connectionString");
  }
  return await openSchema({ connectionString }, { connectionString });
}

async function openSchema(
  database: MigrateOptions["database"],
  source: { readonly pool?: PostgresPool; readonly connectionString?: string },
): Promise<TestStorage> {
  const schema = `postrider_test_${randomBytes(6).toString("hex")}`;
  await migrate({ database, schema });
  return { backend: new PostgresBackend({ ...source, schema }), drop: () => dropSchema({ database, schema }) };
}
