/** The product's schema once more, under another name, in which nobody is ever notified: what notifications cost is the difference. */
import pg from "pg";
import { migrate } from "../src/backend/postgres/migrate.js";
import { silentSchema } from "./systems/system.js";

/** Makes it, where it is not there yet. */
export async function prepareSilentSchema(connectionString: string): Promise<void> {
  await migrate({ database: { connectionString }, schema: silentSchema });
  const client = new pg.Client(connectionString);
  await client.connect();
  try {
    await replaceBody(client, "wake", () => "begin return 0; end");
    await replaceBody(client, "announce", () => "begin end");
    // The usual publish has the protocol inlined.
    await replaceBody(client, "insert_one", (body) => body.replace("perform pg_notify", "-- perform pg_notify"));
  } finally {
    await client.end();
  }
}

async function replaceBody(client: pg.Client, name: string, change: (body: string) => string): Promise<void> {
  const { rows } = await client.query<{ definition: string; body: string }>(
    "select pg_get_functiondef(oid) as definition, prosrc as body from pg_proc where proname = $1 and pronamespace = $2::regnamespace",
    [name, silentSchema],
  );
  const [found] = rows;
  if (found === undefined || rows.length > 1)
    throw new Error(`${rows.length} functions ${silentSchema}.${name}, 1 expected`);
  const changed = change(found.body);
  if (changed === found.body)
    throw new Error(`${silentSchema}.${name} is not what was expected: nothing to silence in it`);
  await client.query(found.definition.replace(found.body, () => changed));
}
