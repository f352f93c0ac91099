/** Plain SQL doing the same job: LISTEN, then DELETE … SKIP LOCKED RETURNING until nothing is left. */
import pg from "pg";
import { serve } from "./consumer.js";

const listening = new pg.Client(process.argv[2]);
const working = new pg.Client(process.argv[2]);
await listening.connect();
await working.connect();

let looking = false;
let again = false;

async function look(): Promise<void> {
  again = true;
  if (looking) return;
  looking = true;
  while (again) {
    again = false;
    const { rows } = await working.query(
      `delete from plain_queue where id = (select id from plain_queue order by id limit 1 for update skip locked)
       returning payload, sent_at`,
    );
    for (const { payload, sent_at } of rows) {
      JSON.parse(payload);
      record(sent_at);
      again = true;
    }
  }
  looking = false;
}

listening.on("notification", () => void look());
await listening.query("listen plain_queue");
const { record } = serve(async () => {
  await listening.end();
  await working.end();
});
