import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../generated/index.js";
import { keptLog } from "../support/client.js";

// It was taken for a passing error of the connection, and publishers waited two minutes for an address to appear.
test("without an address a publish, a transaction and start() say so at once", async () => {
  const client = createClient({ connectionString: () => undefined });
  const unaddressed = { code: "ERR_NO_DATABASE", message: /DATABASE_URL/ };
  await assert.rejects(client.publishTo.searchReindex({ kind: "product", documentId: "d-1" }), unaddressed);
  await assert.rejects(
    client.transaction(() => undefined),
    unaddressed,
  );
  await assert.rejects(client.start(), unaddressed);
  await client.stop();
});

test("Q6 a listener that is stopped before start() has nobody to tell, and needs no database", async () => {
  const logger = keptLog();
  const client = createClient({ connectionString: () => undefined, logger });
  await client.onSearchReindex(() => undefined).stop();
  await client.flush();
  await client.stop();
  assert.deepEqual(logger.lines, []);
});
