/** Every TypeScript example in the documents compiles against a client generated for it, and those that can run do. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { typeErrors } from "../codegen/type-check.js";
import { testDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { startProcess } from "../support/processes.js";
import { type Example, exampleProject } from "./example-project.js";

const root = join(import.meta.dirname, "..", "..");
const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const documents = ["README.md", "src/README.md", "migrations/README.md", ...pages.map((name) => `docs/${name}`)];
const examples = (await Promise.all(documents.map(exampleProject))).flat();
const { connectionString } = await testDatabase();
const env = { DATABASE_URL: connectionString };

test("examples compile", () => {
  const errors = typeErrors(new Map(examples.map(({ file, text }) => [file, text])), {
    skipLibCheck: true,
    lib: ["lib.es2023.d.ts"],
    types: ["node"],
    customConditions: ["postrider-source"],
  });
  const faults = examples.flatMap(({ place, file }) =>
    (errors.get(file) ?? []).map(({ line, text }) => `${place}, line ${line + 1} of the block: ${text}`),
  );
  assert.deepEqual(faults, []);
});

// In the order of the document: what one publishes, a later one may handle.
for (const example of examples.filter(({ remark }) => remark.startsWith("run"))) {
  test(`${example.place} runs`, () => (example.remark === "run worker" ? runWorker(example) : run(example)));
}

async function run({ file }: Example): Promise<void> {
  const running = startProcess(file, { env });
  assert.equal((await running.ended).code, 0, running.output());
}

async function runWorker({ file }: Example): Promise<void> {
  const running = startProcess(file, { env });
  after(() => running.kill());
  // The documents' first message.
  await eventually(() => running.output().includes("o-1"), { timeoutMs: 20_000, otherwise: running.output });
  const { code, signal } = await running.kill("SIGTERM");
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, running.output());
}
