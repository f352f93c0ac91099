/** Plain SQL at its barest: one row a message in a table of two columns. It can only be published to. */
import pg from "pg";
import type { Adapter } from "./system.js";

export const adapter: Adapter = {
  prepare: async ({ connectionString }) => {
    const client = new pg.Client(connectionString);
    await client.connect();
    await client.query(
      "create table if not exists plain_bare (id bigint generated always as identity primary key, payload text not null)",
    );
    await client.end();
  },
  open: async ({ connectionString }) => {
    const pool = new pg.Pool({ connectionString, max: 10 });
    pool.on("error", () => undefined);
    const insert = (payloads: readonly string[]) =>
      pool.query("insert into plain_bare (payload) select unnest($1::text[])", [payloads]);
    return {
      publish: (_queue, message) =>
        pool.query("insert into plain_bare (payload) values ($1)", [JSON.stringify(message)]),
      publishMany: (_queue, messages) => insert(messages.map((message) => JSON.stringify(message))),
      consume: () => Promise.reject(new Error("a table without queues has no consumers")),
      stop: () => pool.end(),
    };
  },
};
