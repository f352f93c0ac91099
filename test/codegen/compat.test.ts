/** The gate: whole schema folders, their settings, renames, versions, accepted findings, and git as a base. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { loadEarlier } from "../../codegen/compat/earlier.js";
import { compareModels } from "../../codegen/compat.js";
import { schemasFromTexts } from "../../codegen/load.js";
import { idSchema, testProject } from "./project.js";

type Files = Readonly<Record<string, object>>;

const today = "2026-12-01";
const withTotal = {
  ...idSchema,
  properties: { ...idSchema.properties, total: { type: "number" } },
  required: ["id", "total"],
};
const widened = { ...idSchema, properties: { id: { type: ["string", "integer"] } } };
const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

function compare(before: Files, after: Files) {
  const load = (files: Files) =>
    schemasFromTexts(new Map(Object.entries(files).map(([path, schema]) => [path, JSON.stringify(schema)])), "schemas");
  const report = compareModels({ before: load(before), after: load(after), today });
  return {
    ...report,
    rules: report.findings.map(({ rule, direction }) => (direction === undefined ? rule : `${direction} ${rule}`)),
  };
}

describe("the compatibility gate", () => {
  it("lets equal schemas, documentation and optional properties pass", () => {
    const documented = {
      ...idSchema,
      description: "x",
      properties: { ...idSchema.properties, note: { type: "string" } },
    };
    assert.deepEqual(compare({ "a.json": idSchema }, { "a.json": documented }).rules, []);
  });

  it("proves tests with references that did not change, and sees what changed behind one", () => {
    const conditional = (kind: object, more: object) => ({
      type: "object",
      properties: { id: { type: "string" }, kind: { type: "string" }, ...more },
      required: ["id"],
      if: { properties: { kind: { const: "x" } }, required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: the keyword's name
      then: { properties: { id: { $ref: "#/$defs/kind" } } },
      $defs: { kind },
    });
    const note = { note: { type: "string" } };
    const before = { "a.json": conditional({ type: "string", minLength: 5 }, {}) };
    const same = compare(before, { "a.json": conditional({ type: "string", minLength: 5 }, note) });
    assert.deepEqual([same.rules, same.problems], [[], []]);
    assert.notDeepEqual(compare(before, { "a.json": conditional({ type: "string", minLength: 4 }, note) }).rules, []);
  });

  it("refuses a backward break, with place and witness", () => {
    const { findings, compatible } = compare({ "a.json": idSchema }, { "a.json": withTotal });
    assert.equal(compatible, false);
    assert.equal(findings[0]?.rule, "message-required");
    assert.equal(findings[0]?.file, "schemas/a.json");
    assert.match(JSON.stringify(findings[0]?.witness), /^\{"id":"/);
  });

  it("lets a forward break pass when the version is raised, a backward break not", () => {
    assert.deepEqual(compare({ "a.json": idSchema }, { "a.json": widened }).rules, ["forward message-type"]);
    const raised = { ...widened, "x-queue": { version: 2 } };
    assert.deepEqual(compare({ "a.json": idSchema }, { "a.json": raised }).rules, []);
    const broken = { ...withTotal, "x-queue": { version: 2 } };
    assert.deepEqual(compare({ "a.json": idSchema }, { "a.json": broken }).rules, ["backward message-required"]);
  });

  it("follows a rename through aliases, and refuses a queue that is gone", () => {
    assert.deepEqual(compare({ "a.json": idSchema }, { "b.json": idSchema }).rules, ["queue-removed"]);
    const renamed = { ...idSchema, "x-queue": { aliases: ["a"] } };
    assert.deepEqual(compare({ "a.json": idSchema }, { "b.json": renamed }).rules, []);
  });

  it("warns of settings that surprise operators", () => {
    const before = { ...idSchema, "x-queue": { maxAttempts: 9, exclusive: true, redact: ["/id"], version: 2 } };
    const after = { ...idSchema, "x-queue": { maxAttempts: 3, deadLetter: false } };
    const { findings } = compare({ "a.json": before }, { "a.json": after });
    assert.deepEqual(
      findings.map(({ rule, severity }) => `${severity} ${rule}`),
      [
        "error version-lowered",
        "warning setting-lowered",
        "warning order-loosened",
        "warning retention-lowered",
        "warning redact-removed",
      ],
    );
  });

  it("drops what is ignored, until the entry ends", () => {
    const ignore = (until: string) => ({
      ignore: [{ queue: "a", rule: "message-type", pointer: "/id", reason: "drained first", until }],
    });
    const open = compare({ "a.json": idSchema }, { "a.json": widened, "_compat.json": ignore("2026-12-01") });
    assert.deepEqual([open.compatible, open.ignored], [true, 1]);
    const ended = compare({ "a.json": idSchema }, { "a.json": widened, "_compat.json": ignore("2026-11-30") });
    assert.equal(ended.compatible, false);
    assert.equal(ended.problems[0]?.rule, "ignore-expired");
  });

  it("compares with a git commit, and says so through exit code and JSON", { timeout: 60_000 }, async () => {
    const project = await testProject({ "a.json": idSchema, "_shared/x.json": { type: "string" } });
    const git = (...args: string[]) => execFileSync("git", args, { cwd: project.cwd, stdio: "pipe" });
    git("init", "-q");
    git("add", ".");
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "base");
    const base = await loadEarlier({ against: "git:HEAD", cwd: project.cwd, schemas: "schemas" });
    assert.deepEqual([...base.files.keys()], ["_shared/x.json", "a.json"]);
    await project.write({ "a.json": withTotal });
    const args = ["--conditions=postrider-source", "--import", import.meta.resolve("tsx"), main];
    const checked = spawnSync(process.execPath, [...args, "check", "--against", "git:HEAD", "--json"], {
      cwd: project.cwd,
      encoding: "utf8",
    });
    assert.equal(checked.status, 1, checked.stderr);
    const report = JSON.parse(checked.stdout) as { findings: { rule: string }[] };
    assert.deepEqual(
      report.findings.map(({ rule }) => rule),
      ["message-required"],
    );
    await assert.rejects(
      loadEarlier({ against: "git:--output=x", cwd: project.cwd, schemas: "schemas" }),
      /no git commit/,
    );
    await project.remove();
  });
});
