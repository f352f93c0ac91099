/**
 * The table: 132 schemas that generators get wrong. Each ends in agreement (specification, ajv on the original, both
 * generated validators and the TypeScript type, on every sample) or in a refusal that names the place.
 */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { validationOptions } from "../../codegen/emit/validators.js";
import { emit } from "../../codegen/emit.js";
import { CodegenError } from "../../codegen/problem.js";
import { type Case, cases, loadCase, type Sample } from "./case-files.js";
import { runValidators, type Validators } from "./run-validators.js";
import { exactType, literal, typeErrors } from "./type-check.js";

interface Agreement {
  readonly validators: Validators;
  readonly literalErrors: readonly boolean[];
  readonly typeErrors: readonly boolean[];
  readonly declarationErrors: readonly string[];
}

const results = new Map<string, Agreement | CodegenError>();

before(async () => {
  const sources = new Map<string, string>();
  const modules = new Map<string, string>();
  for (const example of cases) {
    try {
      const { files } = await emit(loadCase(example), { display: "schemas", schemasFromOut: "../schemas" });
      const stem = example.fileName.replace(/\.json$/, "");
      modules.set(example.id, files.get(`validators/${stem}.js`) ?? "");
      for (const [path, text] of files) {
        if (path.startsWith("types/") && path.endsWith(".d.ts")) sources.set(`/cases/${example.id}/${path}`, text);
      }
      sources.set(`/cases/${example.id}/samples.ts`, sampleSource(example, stem));
    } catch (error) {
      if (!(error instanceof CodegenError)) throw error;
      results.set(example.id, error);
    }
  }
  const errors = typeErrors(sources);
  for (const [id, module] of modules) {
    const own = (name: string) => errors.get(`/cases/${id}/${name}`) ?? [];
    const failedLines = new Set(own("samples.ts").map(({ line }) => line));
    const count = samplesOf(cases.find((example) => example.id === id) as Case).length;
    const declarationErrors = [...errors].flatMap(([path, list]) =>
      path.startsWith(`/cases/${id}/types/`) ? list.map(({ text }) => text) : [],
    );
    results.set(id, {
      validators: runValidators(module),
      literalErrors: Array.from({ length: count }, (_, index) => failedLines.has(1 + 2 * index)),
      typeErrors: Array.from({ length: count }, (_, index) => failedLines.has(2 + 2 * index)),
      declarationErrors,
    });
  }
});

describe("the case collection", () => {
  for (const example of cases) {
    it(`${example.id}: ${example.title} -> ${example.outcome}`, () => {
      const result = results.get(example.id);
      if (result instanceof CodegenError) return checkRefusal(example, result);
      assert.equal("agrees", example.outcome, "nothing refused it");
      return checkAgreement(example, result as Agreement);
    });
  }

  it("holds all 132 cases", () => assert.equal(cases.length, 132));
});

function checkRefusal(example: Case, { problems }: CodegenError): void {
  assert.equal(problems[0]?.rule, example.outcome, problems.map((problem) => problem.message).join("\n"));
  for (const problem of problems) {
    assert.match(problem.file, /^schemas\/.+\.json$/);
    assert.ok(problem.line >= 1 && problem.column >= 1);
  }
}

function checkAgreement(example: Case, result: Agreement): void {
  assert.deepEqual(result.declarationErrors, []);
  const original = compileOriginal(example);
  for (const [index, { sample, valid }] of samplesOf(example).entries()) {
    const shown = JSON.stringify(sample.value);
    assert.equal(original(sample.value), valid, `ajv on the original schema: ${shown}`);
    const published = result.validators.publish(sample.value);
    if (!valid || sample.ts === "accept") assert.equal(published, valid, `publish: ${shown}`);
    const delivered = result.validators.deliver(sample.value);
    if (valid) assert.ok(delivered, `deliver: ${shown}`);
    if (delivered) assert.equal(result.typeErrors[index], false, `delivered, but not of the type: ${shown}`);
    if (sample.inexpressible === true || sample.ts === "either") continue;
    assert.equal(result.literalErrors[index], sample.ts === "reject", `type of the literal: ${shown}`);
    if (sample.ts === "accept") assert.ok(published, `the type takes it, publish does not: ${shown}`);
  }
}

function samplesOf(example: Case): { sample: Sample; valid: boolean }[] {
  return [
    ...example.valid.map((sample) => ({ sample, valid: true })),
    ...example.invalid.map((sample) => ({ sample, valid: false })),
  ];
}

function sampleSource(example: Case, stem: string): string {
  const type = stem === "user.created" ? "UserCreated" : "Message";
  const lines = [`import type { ${type} as M } from "./types/${stem}.js"; declare function take(value: M): void;`];
  for (const { sample } of samplesOf(example)) {
    lines.push(`take(${literal(sample.value)});`);
    lines.push(`take(null as unknown as ${exactType(sample.value)});`);
  }
  return lines.join("\n");
}

function compileOriginal(example: Case): (value: unknown) => boolean {
  const ajv = new (example.draft === "07" ? Ajv : Ajv2020)({ ...validationOptions, logger: false });
  addFormats.default(ajv);
  ajv.addKeyword("x-queue");
  for (const [path, schema] of Object.entries(example.files ?? {})) {
    ajv.addSchema({ ...(schema as object), $id: `file:///schemas/${path}` });
  }
  const root =
    typeof example.schema === "object" ? { ...example.schema, $id: `file:///schemas/${example.fileName}` } : true;
  const validate = ajv.compile(root);
  return (value) => validate(value) === true;
}
