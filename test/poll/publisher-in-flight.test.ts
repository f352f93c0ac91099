/** A node that goes to sleep while somebody's publish is still open: step C2 of the wake-up protocol. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import test from "node:test";
import pg from "pg";
import { createClient } from "../../generated/index.js";
import { testDatabase } from "../support/database.js";

const { connectionString } = await testDatabase();

test("it finds the message without a notification and without waiting for the poll, and does not call that a poll", async (t) => {
  const publisher = new pg.Client(connectionString);
  await publisher.connect();
  t.after(() => publisher.end());
  const mq = createClient({ connectionString, pollMs: 60_000 });
  t.after(() => mq.stop());
  const seen = new EventEmitter();
  mq.onSearchReindex(async () => void seen.emit("handled"));
  mq.on("woken", (woken) => seen.emit("woken", woken));

  // Open before the node is there: nobody sleeps yet, so nobody is notified.
  await publisher.query("begin");
  await publisher.query(`select postrider.publish('search-reindex', '[{"documentId":"d-1","kind":"product"}]')`);
  let rounds = 0;
  const lookedAgain = new Promise<void>((resolve) => {
    mq.on("polled", () => {
      rounds += 1;
      if (rounds === 8) resolve();
    });
  });
  await mq.start();
  // Its first rounds had other reasons; only the open publish makes it go on looking.
  await lookedAgain;
  const woken = once(seen, "woken", { signal: AbortSignal.timeout(10_000) });
  const handled = once(seen, "handled", { signal: AbortSignal.timeout(10_000) });
  await publisher.query("commit");

  const [{ source }] = await woken;
  assert.equal(source, "notify");
  await handled;
});
