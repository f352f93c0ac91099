import assert from "node:assert/strict";
import test from "node:test";
import { errorLine } from "../../src/cli/error-line.js";
import { PostriderError } from "../../src/errors.js";
import { testDatabase } from "../support/database.js";
import { startProcess } from "../support/processes.js";

const program = new URL("../../src/cli/main.ts", import.meta.url);
const db = await testDatabase({ empty: true });

async function postrider(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = startProcess(program, { args, env: { DATABASE_URL: db.connectionString } });
  const { code } = await child.ended;
  return { code, output: child.output() };
}

test("help lists the commands and says what the exit codes mean", async () => {
  const { code, output } = await postrider("--help");
  assert.equal(code, 0);
  assert.match(output, /codegen[\s\S]*migrate[\s\S]*Exit codes: 0 done; 1 failed/);
});

test("wrong usage is exit code 2, with the nearest name", async () => {
  const { code, output } = await postrider("migrat");
  assert.equal(code, 2);
  assert.match(output, /unknown command 'migrat'\n\(Did you mean migrate\?\)/);
});

test("an error is one line: its code, what happened, what to do", async () => {
  const { code, output } = await postrider("migrate", "--schema", "pg_mine");
  assert.equal(code, 1);
  assert.match(output, /^ERR_SCHEMA_NAME: schema name "pg_mine" .*\. What to do: choose another name\n$/);
});

test("migrate, its status before and after, and a drop that must be confirmed", async () => {
  assert.deepEqual(await postrider("migrate", "--status"), { code: 1, output: "000001.sql  pending\n" });
  assert.deepEqual(await postrider("migrate"), { code: 0, output: 'schema "postrider": applied 000001.sql\n' });
  assert.deepEqual(await postrider("migrate"), { code: 0, output: 'schema "postrider": up to date\n' });
  assert.match((await postrider("migrate", "--status")).output, /^000001\.sql {2}applied {2}\d{4}-/);
  assert.deepEqual(await postrider("migrate", "--drop"), { code: 1, output: "nothing was dropped\n" });
  assert.deepEqual(await postrider("migrate", "--drop", "--yes"), { code: 0, output: 'schema "postrider" is gone\n' });
  const { rows } = await db.pool.query("select 1 from pg_namespace where nspname = 'postrider'");
  assert.equal(rows.length, 0);
});

test("--print needs no database", async () => {
  const child = startProcess(program, {
    args: ["migrate", "--print", "--schema", "By Hand"],
    env: { DATABASE_URL: undefined },
  });
  assert.deepEqual(await child.ended, { code: 0, signal: null });
  assert.match(child.output(), /^begin;\ncreate schema if not exists "By Hand";/);
});

test("an address that is none is said to be one, without what it holds", async () => {
  const { code, output } = await postrider("status", "--database-url", "mysql://app:secret@db/shop");
  assert.equal(code, 1);
  assert.match(output, /^ERR_CLIENT_OPTIONS: --database-url must begin with postgres:.* found "mysql:\/\/…"/);
  assert.doesNotMatch(output, /secret/);
});

test("an error line says nothing twice, and ends no question with a full stop", () => {
  const migrated = new PostriderError("ERR_NOT_MIGRATED", 'schema "x" is missing; run `npx postrider migrate`');
  assert.equal(errorLine(migrated), 'ERR_NOT_MIGRATED: schema "x" is missing; run `npx postrider migrate`');
  const near = new PostriderError("ERR_QUEUE_UNDECLARED", 'no queue "a"; did you mean "b"?');
  assert.match(errorLine(near), /did you mean "b"\? What to do: /);
  const missing = Object.assign(new Error("Cannot find package 'redos-detector' imported from x"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  assert.match(errorLine(missing), /npm install --save-dev ts-morph json-schema-to-typescript redos-detector$/);
});

test("without an address the error says how to give one", async () => {
  const child = startProcess(program, { args: ["migrate"], env: { DATABASE_URL: undefined } });
  assert.deepEqual(await child.ended, { code: 1, signal: null });
  assert.match(child.output(), /^ERR_NO_DATABASE: .*DATABASE_URL.*--database-url <url>.*--embedded/);
});
