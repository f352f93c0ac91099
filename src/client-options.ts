/** What `createClient` and `createRuntime` take. */
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Backend } from "./backend/backend.js";
import { assertAddress } from "./backend/postgres/address.js";
import type { PostgresPool } from "./backend/postgres/connection-options.js";
import { PostriderError } from "./errors.js";
import type { Logger } from "./instrument.js";
import type { DedupFunction } from "./publish/dedup-function.js";
import type { QueueDefinition } from "./queue/queue.js";
import { unknownKey } from "./queue/unknown-key.js";

/** Options of a client. Everything is optional; nothing connects before first use. */
export interface ClientOptions {
  /** The database's address, or a function that finds it at first use. */
  readonly connectionString?: string | (() => string | undefined);
  /** A `pg.Pool` the caller owns and closes, instead of `connectionString`. */
  readonly pool?: PostgresPool;
  /**
   * `memory`, or storage of the caller's own, instead of `connectionString` and `pool`. Default: the environment variable
   * `POSTRIDER_BACKEND`, read when the client is made, which then counts instead of those two; without it, `postgres`.
   */
  readonly backend?: Backend | "postgres" | "memory";
  /** A direct, session-pinned address for LISTEN where the pool goes through PgBouncer. Default: the pool's own address. */
  readonly listenConnectionString?: string;
  /** The database schema. Default `postrider`. */
  readonly schema?: string;
  /** Longest time between two looks for work, in ms. Default 5,000. */
  readonly pollMs?: number;
  /** Connections of the client's own pool. Default 10. */
  readonly poolSize?: number;
  /**
   * Name the library's own statements, so that a connection parses and plans each once: a lone publish takes a quarter less.
   * Default false: a pooler in transaction mode must support named statements (PgBouncer from 1.21, `max_prepared_statements`).
   */
  readonly preparedStatements?: boolean;
  /** Default: warnings and errors as JSON lines on standard error. */
  readonly logger?: Logger;
  /** A prom-client registry; two clients may share one. Default: one of the client's own. */
  readonly registry?: Registry;
  /** A name for this process in `status`. Default: host name and process id. */
  readonly node?: string;
  /** Time between two heartbeats, in ms. Default 3,000. */
  readonly heartbeatMs?: number;
  /** Messages that may wait in the publish buffers before publishers wait. Default 10,000. */
  readonly bufferMaxMessages?: number;
  /** The same bound in bytes of JSON. Default 32 MiB. */
  readonly bufferMaxBytes?: number;
  /**
   * Per queue, by name or identifier: chooses what is kept of the messages of one `many`, `collect` or transaction, in
   * place of the queue's own rule. Called with copies, synchronously; must return some of those. Default: the queue's rule.
   */
  readonly dedup?: Readonly<Record<string, DedupFunction>>;
}

/** Every option with its default, checked. */
export interface ResolvedOptions extends ClientOptions {
  readonly schema: string;
  readonly pollMs: number;
  readonly poolSize: number;
  readonly heartbeatMs: number;
  readonly bufferMaxMessages: number;
  readonly bufferMaxBytes: number;
  readonly logger: Logger;
  readonly registry: Registry;
}

const known: ReadonlySet<string> = new Set(
  Object.keys({
    connectionString: true,
    pool: true,
    backend: true,
    listenConnectionString: true,
    schema: true,
    pollMs: true,
    poolSize: true,
    preparedStatements: true,
    logger: true,
    registry: true,
    node: true,
    heartbeatMs: true,
    bufferMaxMessages: true,
    bufferMaxBytes: true,
    dedup: true,
  } satisfies Record<keyof ClientOptions, true>),
);

const backendNames: readonly string[] = ["postgres", "memory"];

/** @throws PostriderError `ERR_CLIENT_OPTIONS` */
export function resolveClientOptions(given: ClientOptions, queues: readonly QueueDefinition[]): ResolvedOptions {
  const wrong = unknownKey(given, known);
  if (wrong !== undefined) throw badOption(wrong);
  const options = withBackendOfEnvironment(given);
  const sources = (["connectionString", "pool", "backend"] as const).filter(
    (key) => options[key] !== undefined && options[key] !== "postgres",
  );
  const { preparedStatements: named = false } = options;
  if (typeof named !== "boolean") throw badOption(`preparedStatements must be true or false, found ${String(named)}`);
  if (sources.length > 1) throw badOption(`${sources.join(" and ")} exclude each other: give one of them`);
  for (const key of ["connectionString", "listenConnectionString"] as const) {
    const address: unknown = options[key];
    // "" is what an unset variable of some deployments reads as: nothing is known yet.
    if (address === undefined || address === "" || (key === "connectionString" && typeof address === "function"))
      continue;
    if (typeof address !== "string") throw badOption(`${key} must be a text, found ${typeof address}`);
    assertAddress(key, address);
  }
  const resolved = {
    ...options,
    schema: options.schema ?? "postrider",
    pollMs: bounded("pollMs", options.pollMs ?? 5_000, 10, 3_600_000),
    poolSize: bounded("poolSize", options.poolSize ?? 10, 1, 10_000),
    heartbeatMs: bounded("heartbeatMs", options.heartbeatMs ?? 3_000, 10, 3_600_000),
    bufferMaxMessages: bounded("bufferMaxMessages", options.bufferMaxMessages ?? 10_000, 1, 10_000_000),
    bufferMaxBytes: bounded("bufferMaxBytes", options.bufferMaxBytes ?? 32 * 1024 * 1024, 1_024, 4 * 1024 ** 3),
    logger: options.logger ?? defaultLogger(),
    registry: options.registry ?? new Registry(),
  };
  for (const key of Object.keys(options.dedup ?? {})) {
    if (queues.some(({ name, identifier }) => key === name || key === identifier)) continue;
    throw badOption(`dedup is given for "${key}", which is no queue of this client`);
  }
  for (const { name, settings } of queues) {
    // A heartbeat that is late once must not look like a death.
    const least = 2 * resolved.heartbeatMs + 1_000;
    if (settings.orphanAfterMs >= least) continue;
    throw badOption(
      `queue "${name}" has orphanAfterMs ${settings.orphanAfterMs}; with heartbeatMs ${resolved.heartbeatMs} it must be at least ${least}`,
    );
  }
  return resolved;
}

// M6: the same code runs on another backend because its environment says so. What the code itself says counts for more.
function withBackendOfEnvironment(options: ClientOptions): ClientOptions {
  const { POSTRIDER_BACKEND: fromEnvironment } = process.env;
  assertBackend("backend", options.backend, " or an object");
  if (options.backend !== undefined || fromEnvironment === undefined || fromEnvironment === "") return options;
  assertBackend("POSTRIDER_BACKEND", fromEnvironment);
  if (fromEnvironment !== "memory") return options;
  const { connectionString: _, pool: __, ...others } = options;
  return { ...others, backend: "memory" };
}

function assertBackend(where: string, value: unknown, more = ""): void {
  if (typeof value !== "string" || backendNames.includes(value)) return;
  throw badOption(`${where} must be ${backendNames.map((name) => `"${name}"`).join(", ")}${more}, found "${value}"`);
}

function bounded(option: string, value: number, min: number, max: number): number {
  if (Number.isFinite(value) && value >= min && value <= max) return value;
  throw badOption(`${option} must be a number from ${min} to ${max}, found ${String(value)}`);
}

function badOption(message: string): PostriderError {
  return new PostriderError("ERR_CLIENT_OPTIONS", message);
}

let sharedLogger: Logger | undefined;

// pino: the logger most Node services already have. Synchronous on standard error, so that nothing is lost at exit.
function defaultLogger(): Logger {
  sharedLogger ??= pino({ name: "postrider", level: "warn" }, pino.destination({ dest: 2, sync: true }));
  return sharedLogger;
}
