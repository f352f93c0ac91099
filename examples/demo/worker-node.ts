/** A worker process: handles all three queues, and records what it was given before it says that it is done. */
import pg from "pg";
import type { BatchContext } from "postrider";
import { createClient } from "../../generated/index.js";
import { obey, taskOfThisProcess, tell } from "./protocol.js";
import { recordReceipts } from "./receipts.js";

const { connectionString, schema, node, pollMs } = taskOfThisProcess();
const pool = new pg.Pool({ connectionString, max: 4, application_name: `postrider demo ${node}` });
pool.on("error", () => undefined);
const mq = createClient({ connectionString, schema, node, pollMs });

let mustHang = false;

async function handle(messages: readonly unknown[], context: BatchContext): Promise<void> {
  await recordReceipts({ pool, schema, node }, messages, context);
  if (!mustHang) return;
  tell({ name: "hanging" });
  // Killed here, it leaves a batch that was handled and not acknowledged: the case that makes duplicates.
  await new Promise(() => undefined);
}

mq.onOrderPlaced(handle);
mq.onEmailSend(handle);
mq.onSearchReindex(handle);
mq.on("woken", ({ source }) => tell({ name: "woken", source }));

obey({
  hang: () => {
    mustHang = true;
  },
  stop: async () => {
    await mq.stop();
    await pool.end();
    process.exit();
  },
});

await mq.start();
tell({ name: "ready" });
