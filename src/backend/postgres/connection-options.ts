/** Where a client's connections come from, in words of our own: pg's types would bind every user to `@types/pg`. */

/** A `pg.Pool`, told by what makes it one. Give the pool of the package `pg` itself: more of it is used than is named here. */
export interface PostgresPool {
  connect(): Promise<{
    query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
    release(destroy?: Error | boolean): void;
  }>;
  end(): Promise<void>;
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** Where the connections come from. */
export interface ConnectionOptions {
  readonly connectionString?: string | (() => string | undefined);
  readonly pool?: PostgresPool;
  readonly listenConnectionString?: string;
  /** Default 10. */
  readonly poolSize?: number;
  /** Default false. */
  readonly preparedStatements?: boolean;
  /** Told about idle connections that die; they are replaced, nothing else happens. */
  readonly onIdleError: (error: Error) => void;
}
