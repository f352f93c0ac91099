/** A process that uses the embedded server of the directory in its first argument until it is told to leave, or is killed. */
import pg from "pg";
import { startEmbeddedPostgres } from "../../src/embedded/embedded.js";
import { report, told } from "./report.js";

const [directory = "", ending = "wait"] = process.argv.slice(2);
try {
  const { connectionString, stop } = await startEmbeddedPostgres({
    directory,
    settings: JSON.parse(process.env.POSTRIDER_TEST_SETTINGS ?? "{}"),
  });
  const client = new pg.Client(connectionString);
  await client.connect();
  const { rows } = await client.query("select setting::int as port from pg_settings where name = 'port'");
  await client.end();
  report("started", { connectionString, port: rows[0].port });
  if (ending === "throw") throw new Error("as the test asked");
  if (ending === "wait") {
    await told("leave");
    await stop();
    report("left");
  }
} catch (error) {
  report("failed", { code: (error as { code?: string }).code, message: (error as Error).message });
  throw error;
}
