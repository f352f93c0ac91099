/** Second half of `npm run migrate:build`: applies the committed files to an empty database and writes down what came of it. */
import { writeFile } from "node:fs/promises";
import pg from "pg";
import { schemaText } from "./schema-text.js";
import { databaseUrl, startTestServer } from "./test-server.js";

const server = await startTestServer();
try {
  const pool = new pg.Pool({ connectionString: databaseUrl(server.connectionString, server.template), max: 1 });
  // The server is stopped while the pool's connection still says goodbye.
  pool.on("error", () => undefined);
  await writeFile(new URL("../../migrations/schema.sql", import.meta.url), await schemaText(pool));
  await pool.end();
} finally {
  await server.stop();
}
