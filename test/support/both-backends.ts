/** One test for both backends: a cluster is a database or one shared memory backend, and any number of clients on it. */
import test, { type TestContext } from "node:test";
import type { Backend } from "../../src/backend/backend.js";
import type { Inspector } from "../../src/backend/inspector.js";
import { MemoryBackend } from "../../src/backend/memory/memory-backend.js";
import { PostgresBackend } from "../../src/backend/postgres/postgres-backend.js";
import type { RuntimeOptions } from "../../src/create-runtime.js";
import type { Runtime } from "../../src/runtime.js";
import { testClient } from "./client.js";
import type { TestDatabase } from "./database.js";

/** Where the clients of one test meet. */
export interface Cluster {
  readonly kind: "postgres" | "memory";
  /** For looking behind the clients' backs. */
  readonly backend: Backend;
  readonly inspector: Inspector;
  /** A client of it, stopped at the end of the test. */
  client(options: RuntimeOptions): Runtime;
}

/** Declares the test twice. Queue names must not be used by another test of the file. */
export function onBothBackends(
  db: TestDatabase,
  name: string,
  body: (t: TestContext, cluster: Cluster) => Promise<void>,
) {
  test(`${name} (postgres)`, async (t) => {
    const backend = new PostgresBackend({ connectionString: db.connectionString });
    t.after(() => backend.close());
    const client = (options: RuntimeOptions) => testClient(t, { connectionString: db.connectionString, ...options });
    await body(t, { kind: "postgres", backend, inspector: backend.inspector, client });
  });
  test(`${name} (memory)`, async (t) => {
    const backend = new MemoryBackend();
    const client = (options: RuntimeOptions) => testClient(t, { backend, ...options });
    await body(t, { kind: "memory", backend, inspector: backend.inspector, client });
  });
}
