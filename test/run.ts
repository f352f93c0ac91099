/**
 * The test command: collects the test files, starts one server for all of them, and hands both to node's own runner.
 *
 *   npm test                        everything
 *   npm test -- test/wake poller    files whose path contains one of these
 *   npm test -- --timeout=300000    another limit per file, in ms
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { serverVariables, startTestServer } from "./support/test-server.js";

const root = join(import.meta.dirname, "..");
// A file that leaves a handle open never ends: at this limit node ends it and names it as failed.
const fileTimeoutMs = 180_000;

/** Test files below `test/`, as paths from the root, that match one of the filters; all of them if there is none. */
async function collect(filters: readonly string[]): Promise<readonly string[]> {
  const entries = await readdir(import.meta.dirname, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !path.startsWith("test/codegen/cases/"))
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter.replace(/^\.\//, ""))))
    .sort();
}

async function runFiles(files: readonly string[], timeoutMs: number): Promise<number> {
  const server = await startTestServer();
  const { DATABASE_URL: _, ...environment } = process.env;
  const flags = [
    "--conditions=postrider-source",
    "--import=tsx",
    "--enable-source-maps",
    "--test",
    "--test-concurrency=2",
    "--test-reporter=spec",
    `--test-timeout=${timeoutMs}`,
  ];
  const child = spawn(process.execPath, [...flags, ...files], {
    cwd: root,
    stdio: "inherit",
    // Without DATABASE_URL: a test that forgets to say which database it means must find none.
    env: {
      ...environment,
      [serverVariables.url]: server.connectionString,
      [serverVariables.template]: server.template,
    },
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  await server.stop();
  return code ?? 1;
}

const given = process.argv.slice(2);
const limit = given.find((argument) => argument.startsWith("--timeout="))?.slice("--timeout=".length);
const files = await collect(given.filter((argument) => !argument.startsWith("--")));
if (files.length === 0) {
  process.stderr.write(`no test file matches ${given.join(" ")}\n`);
  process.exitCode = 1;
} else {
  process.exitCode = await runFiles(files, Number(limit ?? fileTimeoutMs));
}
