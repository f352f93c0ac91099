/** What `createClient` and `createRuntime` take. */
import type { Pool } from "pg";
import type { Registry } from "prom-client";
import type { Logger } from "./instrument.js";

/** Options of a client. Everything is optional; nothing connects before first use. */
export interface ClientOptions {
  /** The database's address, or a function that finds it at first use. */
  readonly connectionString?: string | (() => string | undefined);
  /** A pool the caller owns and closes, instead of `connectionString`. */
  readonly pool?: Pool;
  /** A direct, session-pinned address for LISTEN where the pool goes through PgBouncer. Default: the pool's own address. */
  readonly listenConnectionString?: string;
  /** The database schema. Default `postrider`. */
  readonly schema?: string;
  /** Longest time between two looks for work, in ms. Default 5,000. */
  readonly pollMs?: number;
  /** Connections of the client's own pool. Default 10. */
  readonly poolSize?: number;
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
}
