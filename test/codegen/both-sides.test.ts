/**
 * Both sides of a queue come from one compilation. It must judge exactly as the publish and the deliver schema do when each is
 * compiled alone, errors included.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { type Bundle, bundleSchema } from "../../codegen/bundle.js";
import { dialectOf } from "../../codegen/dialect.js";
import { validationOptions, validatorsModule } from "../../codegen/emit/validators.js";
import { type LoadedSchemas, schemasFromTexts } from "../../codegen/load.js";
import { buildModel } from "../../codegen/model.js";
import { bothSchema } from "../../codegen/variants/both-schema.js";
import { deliverSchema } from "../../codegen/variants/deliver-schema.js";
import { publishSchema } from "../../codegen/variants/publish-schema.js";
import { cases, loadCase } from "./case-files.js";
import { randomSchema, sharedPart } from "./fuzz/grammar.js";
import { Dice, valuesNear } from "./fuzz/values.js";
import { runValidators } from "./run-validators.js";

const shared = new Map<string, unknown>([
  ["_shared/part.json", sharedPart],
  ["_shared/part-07.json", { ...JSON.parse(JSON.stringify(sharedPart)), $schema: draft07() }],
]);

describe("one compilation for both sides", () => {
  it("judges the samples of every case as two do", () => {
    for (const example of cases.filter(({ outcome }) => outcome === "agrees")) {
      const values = [...example.valid, ...example.invalid].map((sample) => sample.value);
      compare(bundleOf(loadCase(example), example.fileName), values, example.id);
    }
  });

  it("judges values near the border of random schemas as two do", () => {
    let together = 0;
    for (const [index, { schema, dialect }] of fc.sample(randomSchema, { numRuns: 200, seed: 7 }).entries()) {
      const named = dialect === "draft-07" ? { ...schema, $schema: draft07() } : schema;
      const texts = [["message.json", named] as const, ...shared].map(([path, value]) => [path, JSON.stringify(value)]);
      const loaded = schemasFromTexts(new Map(texts as [string, string][]), "schemas");
      if (buildModel(loaded).problems.some(({ severity }) => severity === "error")) continue;
      const bundle = bundleOf(loaded, "message.json");
      if (bothSchema(bundle) !== undefined) together += 1;
      compare(bundle, valuesNear(named, new Dice(index), shared, 24), JSON.stringify(schema));
    }
    assert.ok(together > 50, `${together} schemas were compiled once`);
  });

  it("keeps apart what counts as evaluated at delivery", () => {
    const closed = { type: "object", patternProperties: { "^x": {} }, unevaluatedProperties: false };
    assert.equal(bothSchema({ dialect: "2020-12", root: closed, definitions: new Map() }), undefined);
  });
});

function compare(bundle: Bundle, values: readonly unknown[], what: string): void {
  const validators = runValidators(validatorsModule({ path: "message.json", display: "message.json", bundle }));
  const sides = { publish: compiled(publishSchema(bundle), bundle), deliver: compiled(deliverSchema(bundle), bundle) };
  for (const side of ["publish", "deliver"] as const) {
    for (const value of values) {
      const [own, alone] = [validators[side], sides[side]];
      const shown = `${side} ${JSON.stringify(value)} of ${what}`;
      assert.equal(own(value), alone(value), shown);
      assert.deepEqual(own.errors?.map(withoutRoot), alone.errors?.map(withoutRoot), shown);
    }
  }
}

// A definition that is needed in two roles has another name on each side.
function withoutRoot({ schemaPath: _, ...error }: { schemaPath: string }): unknown {
  return error;
}

function bundleOf({ files }: LoadedSchemas, path: string): Bundle {
  const file = files.get(path);
  assert.ok(file !== undefined);
  return bundleSchema({ file, files, dialect: dialectOf(file) });
}

function compiled(schema: unknown, { dialect }: Bundle) {
  const ajv = new (dialect === "draft-07" ? Ajv2019 : Ajv2020)({
    ...validationOptions,
    messages: false,
    logger: false,
  });
  addFormats.default(ajv);
  return ajv.compile(schema as object);
}

function draft07(): string {
  return "http://json-schema.org/draft-07/schema#";
}
