/** `postrider publish` as a process of its own, on files as they come. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, beforeEach } from "node:test";
import { fileURLToPath } from "node:url";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { startProcess, type TestProcess } from "../support/processes.js";

const program = new URL("../../src/cli/main.ts", import.meta.url);
const root = join(import.meta.dirname, "..", "..");
const { connectionString, pool } = await testDatabase();
const folder = await mkdtemp(join(tmpdir(), "postrider-publish-"));
after(() => rm(folder, { recursive: true }));
beforeEach(() => pool.query("truncate postrider.queue_message_batch"));

const reindex = (number: number) => JSON.stringify({ documentId: `d-${number}`, kind: "product" });

function start(...args: readonly string[]): TestProcess {
  return startProcess(program, { cwd: root, args: ["publish", ...args], env: { DATABASE_URL: connectionString } });
}

async function publish(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = start(...args);
  const { code } = await child.ended;
  return { code, output: child.output() };
}

async function file(name: string, lines: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.join("\n"));
  return path;
}

async function storedIds(): Promise<readonly string[]> {
  const { rows } = await pool.query<{ payload: string }>(
    "select payload from postrider.queue_message_batch order by id",
  );
  return rows.flatMap(({ payload }) => (JSON.parse(payload) as { documentId: string }[]).map((one) => one.documentId));
}

test("a good file is stored whole, in order, repeats and empty lines and CRLF included", async () => {
  const path = await file("good.jsonl", [reindex(1), "", `${reindex(2)}\r`, reindex(1), reindex(3), ""]);
  const { code, output } = await publish("search-reindex", path);
  assert.deepEqual({ code, output }, { code: 0, output: "search-reindex: 4 stored, 0 refused\n" });
  assert.deepEqual(await storedIds(), ["d-1", "d-2", "d-1", "d-3"]);
});

test("bad lines are refused by number and pointer, and the others stored", async () => {
  const bad = JSON.stringify({ documentId: "d-2", kind: "produkt" });
  const path = await file("bad.jsonl", [reindex(1), bad, '{"documentId": secret}', reindex(4)]);
  const { code, output } = await publish("searchReindex", path);
  assert.equal(code, 1);
  assert.match(output, /^line 2 \/kind: ERR_MESSAGE_INVALID: queue "search-reindex": /m);
  assert.match(output, /^line 3: ERR_MESSAGE_INVALID: not JSON/m);
  assert.doesNotMatch(output, /secret/);
  assert.match(output, /^search-reindex: 2 stored, 2 refused$/m);
  assert.deepEqual(await storedIds(), ["d-1", "d-4"]);
});

test("--strict stops at the first bad line; what stood before it is stored, and it says so", async () => {
  const path = await file("strict.jsonl", [reindex(1), "nonsense", reindex(3)]);
  const { code, output } = await publish("search-reindex", path, "--strict");
  assert.equal(code, 1);
  assert.match(output, /1 stored, 1 refused\nstopped after line 2: nothing behind it was looked at\n$/);
  assert.deepEqual(await storedIds(), ["d-1"]);
});

test("--dry-run needs no database and stores nothing; --json is for programs", async () => {
  const path = await file("dry.jsonl", [reindex(1), "{}"]);
  const child = startProcess(program, {
    cwd: root,
    args: ["publish", "search-reindex", path, "--dry-run", "--json"],
    env: { DATABASE_URL: undefined },
  });
  assert.equal((await child.ended).code, 1);
  const [refused, end] = child
    .output()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(refused.refused.line, 2);
  assert.equal(refused.refused.code, "ERR_MESSAGE_INVALID");
  const { queue, dryRun, stored, fit, refused: count, failed, complete } = end;
  assert.deepEqual(
    { queue, dryRun, stored, fit, count, failed, complete },
    { queue: "search-reindex", dryRun: true, stored: 0, fit: 1, count: 1, failed: 0, complete: true },
  );
});

test("an unknown queue is answered with near names, a missing folder with what to run, a missing file with its path", async () => {
  assert.match((await publish("search-reindx", "-")).output, /ERR_QUEUE_UNDECLARED: .*search-reindex/);
  const elsewhere = await publish("search-reindex", "-", "--generated", "nowhere");
  assert.deepEqual([elsewhere.code, /npx postrider codegen/.test(elsewhere.output)], [1, true]);
  assert.match((await publish("search-reindex", "no-such.jsonl")).output, /ENOENT.*no-such\.jsonl/);
  assert.equal((await publish()).code, 2);
});

test("standard input, named by a dash or by nothing", async () => {
  const node = ["--conditions=postrider-source", "--import", import.meta.resolve("tsx"), fileURLToPath(program)];
  for (const [index, rest] of [["-"], []].entries()) {
    const { stdout, status } = spawnSync(process.execPath, [...node, "publish", "search-reindex", ...rest], {
      cwd: root,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, DATABASE_URL: connectionString },
      input: `${reindex(2 * index)}\n${reindex(2 * index + 1)}`,
      encoding: "utf8",
    });
    assert.deepEqual({ stdout, status }, { stdout: "search-reindex: 2 stored, 0 refused\n", status: 0 });
  }
  assert.deepEqual(await storedIds(), ["d-0", "d-1", "d-2", "d-3"]);
});

test("200,000 lines with flat memory, in order", async () => {
  const path = join(folder, "large.jsonl");
  const output = createWriteStream(path);
  for (let number = 0; number < 200_000; number += 1) output.write(`${reindex(number)}${" ".repeat(100)}\n`);
  await new Promise<void>((resolve) => output.end(`${reindex(200_000)}\n`, resolve));
  const child = startProcess(program, {
    cwd: root,
    args: ["publish", "search-reindex", path],
    // The file has 30 MB; as messages all at once they would need several times that.
    env: { DATABASE_URL: connectionString, NODE_OPTIONS: "--max-old-space-size=96" },
  });
  assert.deepEqual(await child.ended, { code: 0, signal: null }, child.output());
  assert.match(child.output(), /200001 stored, 0 refused/);
  const ids = await storedIds();
  assert.equal(ids.length, 200_001);
  assert.ok(ids.every((id, number) => id === `d-${number}`));
});

test("a signal ends it with an account of what was stored", async () => {
  const path = join(folder, "endless.jsonl");
  await writeFile(path, `${reindex(1)}\n`.repeat(500_000));
  const child = start("search-reindex", path, "--json");
  await eventually(async () => (await storedIds()).length > 0, { timeoutMs: 20_000, everyMs: 50 });
  child.signal("SIGTERM");
  assert.equal((await child.ended).code, 1, child.output());
  const end = JSON.parse(child.output().trim().split("\n").at(-1) ?? "");
  assert.equal(end.complete, false);
  assert.equal(end.stored, (await storedIds()).length);
});
