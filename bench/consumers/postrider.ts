/** A node that delivers. Polls once a minute: what arrives sooner was woken by a notification. */
import { createClient } from "../../generated/index.js";
import { serve } from "./consumer.js";

const client = createClient({ connectionString: process.argv[2] as string, pollMs: 60_000 });
client.onOrderPlaced((_, context) => {
  for (const { sentAt } of context.headers) if (sentAt !== undefined) record(sentAt);
});
await client.start();
const { record } = serve(() => client.stop());
