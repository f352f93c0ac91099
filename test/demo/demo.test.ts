/** The demo, as a newcomer runs it, on small counts: what it prints must be true of what happened. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import type { Account } from "../../examples/demo/account.js";
import { makeOrderLines } from "../../examples/make-orders.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { startProcess, type TestProcess } from "../support/processes.js";

const examples = join(import.meta.dirname, "..", "..", "examples");
const { connectionString, pool } = await testDatabase({ empty: true });

function startDemo(...args: string[]): TestProcess {
  return startProcess(join(examples, "demo", "main.ts"), { args, env: { DATABASE_URL: connectionString } });
}

async function runDemo(...args: string[]): Promise<Account> {
  const demo = startDemo(...args, "--json");
  const { code } = await demo.ended;
  assert.equal(code, 0, demo.output());
  // Progress and refusals share the pipe here; the result is the one line that is JSON.
  const json = demo
    .output()
    .split("\n")
    .find((line) => line.startsWith("{") && line.includes('"latencyMs"'));
  assert.ok(json !== undefined, demo.output());
  return JSON.parse(json) as Account;
}

function assertSound(account: Account, messages: number): void {
  assert.deepEqual(account.problems, []);
  assert.equal(account.published, messages);
  assert.equal(account.delivered, messages);
  assert.equal(account.lost, 0);
  assert.equal(account.damaged, 0);
  const [first = 0, second = 0] = Object.values(account.perNode);
  assert.ok(first > 0 && second > 0, `both nodes deliver: ${JSON.stringify(account.perNode)}`);
  assert.equal(first + second, account.delivered + account.duplicates);
}

test("the example orders are what their script makes", () => {
  assert.equal(readFileSync(join(examples, "orders.jsonl"), "utf8"), `${makeOrderLines().join("\n")}\n`);
});

test("every published message reaches a handler once, woken by notifications", async () => {
  const account = await runDemo("--messages", "3000", "--poll-ms", "60000");
  assertSound(account, 3_000);
  assert.equal(account.duplicates, 0);
  assert.ok(account.deduplicated > 0);
  assert.equal(account.wakeups.poll, 0);
  assert.ok(account.idle.wakeups.notify > 0);
  assert.ok(account.latencyMs.p50 !== null && account.latencyMs.p99 !== null);
});

test("a killed worker's batches run on the other, and nothing is lost", async () => {
  const account = await runDemo("--messages", "3000", "--crash");
  assertSound(account, 3_000);
  assert.ok(account.crash !== undefined && account.crash.batchesInFlight > 0);
  assert.ok(account.crash.recoveredAfterMs !== null);
  // It was killed inside a handler that had seen its messages: they come again.
  assert.ok(account.duplicates > 0);
});

test("the whole file: each bad line is refused with its place, and the rest goes on", async () => {
  const { refusals, problems } = await runDemo();
  assert.deepEqual(problems, []);
  const places = refusals.map(({ file, line, pointer }) => `${file}:${line} ${pointer}`).sort();
  assert.deepEqual(places, [
    "orders.jsonl:1106 /message/lines/0/quantity",
    "orders.jsonl:1381 /message/address/country",
    "orders.jsonl:1644 /message/placedAt",
    "orders.jsonl:1926 /message/customer/email",
    "orders.jsonl:2204 /message/payment/token",
    "orders.jsonl:2480 /message/note",
    "orders.jsonl:2744 ",
    "orders.jsonl:281 /message/total",
    "orders.jsonl:3020 /queue",
    "orders.jsonl:3304 /queue",
    "orders.jsonl:3569 /message/documentId",
    "orders.jsonl:3848 /message/template",
    "orders.jsonl:548 /message/currency",
    "orders.jsonl:823 /message/coupon",
  ]);
});

test("a wrong argument is explained", async () => {
  for (const [args, explanation] of [
    [["--messages", "many"], /--messages <n>.*whole number from 1 to/],
    [["--input", "no-such-file.jsonl"], /There is no such file/],
    [["--cash"], /unknown option '--cash'[\s\S]*Did you mean --crash\?/],
  ] as const) {
    const demo = startDemo(...args);
    assert.equal((await demo.ended).code, 2);
    assert.match(demo.output(), explanation);
  }
});

test("Ctrl-C leaves nothing running and nothing behind", async () => {
  const demo = startDemo("--messages", "1000000");
  const sessions =
    "select count(*)::int as count from pg_stat_activity where application_name like 'postrider%' and datname = current_database()";
  const schemas = "select count(*)::int as count from pg_namespace where nspname like 'postrider_demo_%'";
  const count = async (sql: string) => (await pool.query<{ count: number }>(sql)).rows[0]?.count;
  await eventually(() => demo.output().includes("everything else"), { timeoutMs: 30_000, otherwise: demo.output });
  assert.deepEqual(await demo.kill("SIGINT"), { code: 130, signal: null });
  assert.equal(await count(schemas), 0);
  assert.equal(await count(sessions), 0);
});
