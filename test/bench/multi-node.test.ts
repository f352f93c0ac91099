/** `npm run bench:multi`: nodes start, wait for the signal, go together, go again, and stop. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { testServer } from "../support/test-server.js";

const run = promisify(execFile);
const multi = join(import.meta.dirname, "..", "..", "bench", "multi-node", "multi.ts");
const server = await testServer();
test.after(() => server.stop());

async function command(...args: readonly string[]): Promise<string> {
  const flags = ["--conditions=postrider-source", "--import", "tsx"];
  const env = { ...process.env, DATABASE_URL: server.connectionString, NODE_TEST_CONTEXT: undefined };
  return (await run(process.execPath, [...flags, multi, ...args], { env })).stdout;
}

test("two nodes wait, go together twice, and stop", { timeout: 120_000 }, async (t) => {
  t.after(() => command("stop").catch(() => undefined));
  assert.match(await command("start", "2", "--rtt", "1-2"), /2 nodes of postrider wait/);
  await assert.rejects(command("start", "1"), /nodes are running already/);
  for (let round = 1; round <= 2; round += 1) {
    const table = await command("go", "--seconds", "1", "--callers", "2");
    assert.match(table, /node-1 [\s\S]*node-2 [\s\S]*all 2/);
    assert.match(table, /handled more than once: 0/);
  }
  assert.equal((await command("logs")).match(/signal \d: 2 callers/g)?.length, 4);
  assert.match(await command("stop"), /all nodes have stopped/);
});
