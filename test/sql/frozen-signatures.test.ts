/**
 * Old and new nodes run side by side: what the schema before the last committed file offered, the newest still offers. Until
 * a second file is committed there is nothing to compare; conformance runs the newest code on the newest schema.
 */
import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { migrate } from "../../src/backend/postgres/migrate.js";
import { testDatabase } from "../support/database.js";

const committed = join(import.meta.dirname, "..", "..", "migrations", "committed");

async function offers(
  query: (text: string) => Promise<{ rows: Record<string, unknown>[] }>,
): Promise<readonly string[]> {
  const { rows } = await query(
    `select format('%s(%s) returns %s', proname, pg_get_function_arguments(oid), pg_get_function_result(oid)) as offer
       from pg_proc where pronamespace = 'postrider'::regnamespace
     union all
     select format('%s.%s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod))
       from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'postrider'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
  );
  return rows.map(({ offer }) => offer as string);
}

test("every function and column of the schema before the last migration is there after it, unchanged", async (t) => {
  const names = (await readdir(committed)).filter((name) => name.endsWith(".sql")).sort();
  if (names.length < 2) return t.skip("one migration so far");
  const before = await mkdtemp(join(tmpdir(), "postrider-before-"));
  t.after(() => rm(before, { recursive: true }));
  for (const name of names.slice(0, -1)) await cp(join(committed, name), join(before, name));
  const db = await testDatabase({ empty: true, t: { after: (fn) => t.after(fn) } });
  await migrate({ database: { connectionString: db.connectionString }, directory: before });
  const old = await offers((text) => db.pool.query(text));
  await migrate({ database: { connectionString: db.connectionString } });
  const now = new Set(await offers((text) => db.pool.query(text)));
  assert.deepEqual(
    old.filter((offer) => !now.has(offer)),
    [],
  );
});
