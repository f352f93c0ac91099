/** The storage that a client's options ask for. */
import type { Backend } from "./backend/backend.js";
import { MemoryBackend } from "./backend/memory/memory-backend.js";
import { PostgresBackend } from "./backend/postgres/postgres-backend.js";
import type { ResolvedOptions } from "./client-options.js";

/** @param onIdleError - told of a pooled connection that broke while nobody used it */
export function openBackend({ backend, ...options }: ResolvedOptions, onIdleError: (error: Error) => void): Backend {
  if (backend === "memory") return new MemoryBackend();
  if (backend === undefined || backend === "postgres") return new PostgresBackend({ ...options, onIdleError });
  return backend;
}
