/** The client's pool: its own, made at first use, or the caller's. */
import pg from "pg";
import { PostriderError } from "../../errors.js";
import { atMost } from "../../time.js";
import { assertAddress } from "./address.js";
import type { ConnectionOptions } from "./connection-options.js";
import { endsConnection, NotConnected } from "./sqlstate.js";

/** "cached plan must not change result type", of a named statement. */
function isOutlivedPlan(error: unknown): boolean {
  return (error as { code?: string } | null)?.code === "0A000";
}

/**
 * How long a statement of the library's own may take before its connection counts as dead and is dropped. Without it a
 * network that swallows everything keeps a statement waiting for the quarter of an hour that TCP takes to give up.
 */
const statementTimeoutMs = 15_000;
/** How long `close` waits for connections that are still in use. */
const closeWithinMs = 1_000;
/** The calls of functions are shorter. An insert of fifty rows has as many texts as row counts, each plan a quarter of a MiB. */
const maxNamedLength = 500;
const ignore = () => undefined;
/** What a function found: in the default client that of the environment. */
const foundAddress = "the database's address (DATABASE_URL, where nothing else was given)";

export class Connections {
  readonly #options: ConnectionOptions;
  /** Of the client's own pool, idle or in use. */
  readonly #open = new Set<pg.PoolClient>();
  /** Of the named statements, by text. */
  readonly #names = new Map<string, string>();
  #pool: pg.Pool | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** @throws PostriderError `ERR_NO_DATABASE` when no address is known, `ERR_CLIENT_STOPPED` after `close` */
  pool(): pg.Pool {
    if (this.#closed) throw new PostriderError("ERR_CLIENT_STOPPED", "this client has been stopped; create a new one");
    this.#pool ??= (this.#options.pool as pg.Pool | undefined) ?? this.#makePool();
    return this.#pool;
  }

  /** A connection from the pool, to be released. @throws NotConnected */
  async connect(): Promise<pg.PoolClient> {
    const pool = this.pool();
    try {
      return await pool.connect();
    } catch (error) {
      throw new NotConnected(error);
    }
  }

  /** Runs one statement of the library's own. */
  async query(text: string, values: unknown[] = []): Promise<pg.QueryResult<Record<string, unknown>>> {
    const client = await this.connect();
    // The loss is told by the statement; unheard, the event of the same name would end the process.
    client.on("error", ignore);
    let broken = true;
    try {
      // `query_timeout` per statement is public in pg, if not in its types.
      const config = { text, values, query_timeout: statementTimeoutMs, name: this.#nameOf(text) };
      const result = await client.query(config as pg.QueryConfig);
      broken = false;
      return result;
    } catch (error) {
      // A refusal comes from a connection that works; the server's farewell comes before the socket's end is heard.
      // A plan that a migration has outlived fails until it is prepared anew, on another connection.
      broken = endsConnection(error) || isOutlivedPlan(error);
      throw error;
    } finally {
      client.off("error", ignore);
      client.release(broken);
    }
  }

  /**
   * A node that delivers keeps two connections however idle it is: after ten quiet seconds its next message would wait for
   * a connect and for new plans. A publisher alone keeps none.
   */
  keepWarm(): void {
    if (this.#options.pool === undefined) this.pool().options.min = Math.min(2, this.#options.poolSize ?? 10);
  }

  /** What the LISTEN connection connects to: a direct address where the pool's is a pooler. */
  listenConfig(): pg.ClientConfig {
    if (this.#options.listenConnectionString !== undefined) {
      return { connectionString: this.#options.listenConnectionString };
    }
    if (this.#options.pool === undefined) return { connectionString: this.#address() };
    // A pool keeps what it was made with; `options` is public in pg, if not in its types. The password is there, but hidden
    // from whoever copies it.
    const { options } = this.#options.pool as unknown as { options: pg.ClientConfig };
    return { ...options, ...(options.password === undefined ? {} : { password: options.password }) };
  }

  #nameOf(text: string): string | undefined {
    if (!this.#options.preparedStatements || text.length > maxNamedLength) return undefined;
    const name = this.#names.get(text) ?? `postrider_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }

  /** Closes the client's own pool, soon whatever its connections are doing; the caller's stays open. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#options.pool !== undefined || this.#pool === undefined) return;
    await atMost(closeWithinMs, this.#pool.end());
    // A polite goodbye waits for an answer that a dead network never gives.
    for (const client of this.#open) {
      client.on("error", () => undefined);
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    }
  }

  #makePool(): pg.Pool {
    const pool = new pg.Pool({
      connectionString: this.#address(),
      max: this.#options.poolSize ?? 10,
      application_name: "postrider",
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      // An idle publisher must not keep its process alive: it fits a serverless function.
      allowExitOnIdle: true,
    });
    // Unheard, the death of an idle connection would end the process.
    pool.on("error", this.#options.onIdleError);
    pool.on("connect", (client) => this.#open.add(client));
    pool.on("remove", (client) => this.#open.delete(client as pg.PoolClient));
    return pool;
  }

  #address(): string {
    const { connectionString } = this.#options;
    const address = typeof connectionString === "function" ? connectionString() : connectionString;
    if (address !== undefined && address !== "") {
      assertAddress(typeof connectionString === "function" ? foundAddress : "connectionString", address);
      return address;
    }
    throw new PostriderError(
      "ERR_NO_DATABASE",
      "no database address: set DATABASE_URL, or pass connectionString or pool to createClient",
    );
  }
}
