/**
 * `npm run mutants`: takes each safeguard out of the SQL in turn, runs the test that is named for it, and demands that it
 * fails. A safeguard that nothing misses is either superfluous or untested.
 *
 *   npm run mutants -- claim recover     only of these functions
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { migrationSql } from "../../src/backend/postgres/migration-files.js";
import { schemaName } from "../../src/backend/postgres/schema-name.js";
import { databaseName, databaseUrl, serverVariables, startTestServer } from "../support/test-server.js";
import { type Mutant, mutants } from "./mutant-list.js";

const root = join(import.meta.dirname, "..", "..");
const run = promisify(execFile);
const wanted = process.argv.slice(2);

/** A mutant, and the function as it leaves it. */
interface Prepared {
  readonly mutant: Mutant;
  readonly text: string;
}

/** The function's text without the safeguard. */
async function mutatedText({ in: name, take, put = "", times = 1, also }: Mutant): Promise<string> {
  const text = await readFile(join(root, "migrations", "functions", `${name}.sql`), "utf8");
  const parts = text.split(take);
  if (parts.length !== times + 1)
    throw new Error(`${name}.sql holds ${JSON.stringify(take)} ${parts.length - 1} times, not ${times}`);
  const mutated = parts.join(put);
  if (also !== undefined && !mutated.includes(also[0]))
    throw new Error(`${name}.sql does not hold ${JSON.stringify(also[0])}`);
  return migrationSql(also === undefined ? mutated : mutated.replace(...also), schemaName("postrider"));
}

async function runTest(
  template: string,
  [file, name]: Mutant["noticedBy"],
): Promise<"passed" | "failed" | "missing" | "broken"> {
  const pattern = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const flags = [
    "--conditions=postrider-source",
    "--import=tsx",
    "--test",
    "--test-reporter=tap",
    "--test-timeout=60000",
    "--test-force-exit",
  ];
  const env = { ...process.env, [serverVariables.url]: server.connectionString, [serverVariables.template]: template };
  const { stdout } = await run(process.execPath, [...flags, `--test-name-pattern=${pattern}`, `test/${file}.test.ts`], {
    cwd: root,
    env: { ...env, NODE_TEST_CONTEXT: undefined },
    maxBuffer: 64 * 1024 * 1024,
  }).then(
    (result) => result,
    (error: { stdout: string }) => error,
  );
  // A name that matches nothing would make every mutant look dead, or alive.
  const ran = stdout
    .split("\n")
    .filter((line) => /^\s*(not )?ok /.test(line) && line.includes(name) && !line.includes("# SKIP"));
  if (ran.length === 0) return "missing";
  // What the server cannot even read fails every test, and says nothing of this one.
  if (/syntax error|code: '?42(601|703|P01)/.test(stdout)) return "broken";
  return ran.some((line) => line.trim().startsWith("not ok")) ? "failed" : "passed";
}

async function judge({ mutant, text }: Prepared, index: number): Promise<string> {
  const template = databaseName("test", `mutant_${process.pid}_${index}`);
  await admin.query(`create database ${template} template ${server.template}`);
  try {
    const client = new pg.Client(databaseUrl(server.connectionString, template));
    await client.connect();
    await client.query(text).finally(() => client.end());
    return await runTest(template, mutant.noticedBy);
  } finally {
    await admin.query(`drop database ${template} with (force)`);
  }
}

/** All of them before the first is tried: the run takes minutes, and a text that has changed is known at once. */
async function prepare(): Promise<readonly Prepared[]> {
  const chosen = mutants.filter((mutant) => wanted.length === 0 || wanted.includes(mutant.in));
  const prepared: Prepared[] = [];
  const outdated: string[] = [];
  for (const mutant of chosen) {
    await mutatedText(mutant).then(
      (text) => prepared.push({ mutant, text }),
      ({ message }: Error) => outdated.push(message),
    );
  }
  if (outdated.length > 0) throw new Error(`mutant-list.ts no longer fits:\n${outdated.join("\n")}`);
  return prepared;
}

const chosen = await prepare();
const server = await startTestServer();
const admin = new pg.Client(server.connectionString);
await admin.connect();
const survivors: string[] = [];
try {
  for (const [index, prepared] of chosen.entries()) {
    const verdict = await judge(prepared, index);
    const { mutant } = prepared;
    const what = `${mutant.in}: without ${JSON.stringify(mutant.take)}`;
    if (verdict !== "failed") survivors.push(what);
    process.stdout.write(`${verdict === "failed" ? "noticed " : `SURVIVED (${verdict})`} ${what}\n`);
  }
} finally {
  await admin.end();
  await server.stop();
}
process.stdout.write(`${chosen.length - survivors.length} of ${chosen.length} noticed\n`);
process.exitCode = survivors.length === 0 ? 0 : 1;
