/** Where a command's database is: said on the command line, in `DATABASE_URL`, or embedded. */
import { Command } from "commander";
import { assertAddress } from "../backend/postgres/address.js";
import { PostriderError } from "../errors.js";

/** Options that every command with a database has. */
export interface DatabaseOptions {
  readonly databaseUrl?: string;
  readonly embedded?: boolean;
  readonly schema: string;
}

/** A command that takes {@link DatabaseOptions}. */
export function databaseCommand(name: string): Command {
  return new Command(name)
    .option("--database-url <url>", "the database's address (default: DATABASE_URL)")
    .option("--embedded", "without DATABASE_URL, use the embedded PostgreSQL of this directory")
    .option("--schema <name>", "the database schema", "postrider");
}

/**
 * Runs `work` with the database's address; an embedded server runs as long as it does.
 *
 * @throws PostriderError `ERR_NO_DATABASE` where no address is known, `ERR_CLIENT_OPTIONS` where it is none
 */
export async function withDatabase<T>(
  options: DatabaseOptions,
  work: (connectionString: string) => Promise<T>,
): Promise<T> {
  const given = options.databaseUrl ?? process.env.DATABASE_URL;
  if (given !== undefined && given !== "") {
    assertAddress(options.databaseUrl === undefined ? "DATABASE_URL" : "--database-url", given);
    return await work(given);
  }
  if (options.embedded !== true) {
    throw new PostriderError("ERR_NO_DATABASE", "neither --database-url nor DATABASE_URL says where the database is");
  }
  const { startEmbeddedPostgres } = await import("../embedded/embedded.js");
  const server = await startEmbeddedPostgres();
  return await work(server.connectionString).finally(() => server.stop());
}
