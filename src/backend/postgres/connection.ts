/** The client's pool: its own, made at first use, or the caller's. */
import pg from "pg";
import { PostriderError } from "../../errors.js";

/** Where the connections come from. */
export interface ConnectionOptions {
  readonly connectionString?: string | (() => string | undefined);
  readonly pool?: pg.Pool;
  readonly listenConnectionString?: string;
  /** Default 10. */
  readonly poolSize?: number;
  /** Told about idle connections that die; they are replaced, nothing else happens. */
  readonly onIdleError: (error: Error) => void;
}

export class Connections {
  readonly #options: ConnectionOptions;
  #pool: pg.Pool | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** @throws PostriderError `ERR_NO_DATABASE` when no address is known */
  pool(): pg.Pool {
    this.#pool ??= this.#options.pool ?? this.#makePool();
    return this.#pool;
  }

  /** What the LISTEN connection connects to: a direct address where the pool's is a pooler. */
  listenConfig(): pg.ClientConfig {
    if (this.#options.listenConnectionString !== undefined) {
      return { connectionString: this.#options.listenConnectionString };
    }
    if (this.#options.pool === undefined) return { connectionString: this.#address() };
    // A pool keeps what it was made with; `options` is public in pg, if not in its types.
    return (this.#options.pool as unknown as { options: pg.ClientConfig }).options;
  }

  /** Closes the client's own pool; the caller's stays open. */
  async close(): Promise<void> {
    if (this.#options.pool !== undefined || this.#pool === undefined) return;
    const pool = this.#pool;
    this.#pool = undefined;
    await pool.end();
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
    return pool;
  }

  #address(): string {
    const { connectionString } = this.#options;
    const address = typeof connectionString === "function" ? connectionString() : connectionString;
    if (address !== undefined && address !== "") return address;
    throw new PostriderError(
      "ERR_NO_DATABASE",
      "no database address: set DATABASE_URL, or pass connectionString or pool to createClient",
    );
  }
}
