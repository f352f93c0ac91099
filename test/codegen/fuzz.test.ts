/**
 * Random schemas, random values near their border. ajv on the original, the publish validator and the type never disagree,
 * and what the deliver validator accepts is always assignable to the handler's type.
 *
 * `FUZZ_SCHEMAS` (300) and `FUZZ_SEED` (fixed) make the long run.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { bundleSchema } from "../../codegen/bundle.js";
import { validationOptions } from "../../codegen/emit/validators.js";
import { emit } from "../../codegen/emit.js";
import { schemasFromTexts } from "../../codegen/load.js";
import { CodegenError } from "../../codegen/problem.js";
import { isSchemaObject, subschemas } from "../../codegen/schema.js";
import { publishSchema } from "../../codegen/variants/publish-schema.js";
import { erased } from "./fuzz/erased.js";
import { type RandomSchema, randomSchema, sharedPart } from "./fuzz/grammar.js";
import { Dice, valuesNear } from "./fuzz/values.js";
import { runValidators, type Validators } from "./run-validators.js";
import { exactType, literal, typeErrors } from "./type-check.js";

const schemaCount = Number(process.env.FUZZ_SCHEMAS ?? 300);
const seed = Number(process.env.FUZZ_SEED ?? 20_261_201);
const valuesPerSchema = 24;
const schemasPerProgram = 300;

const part07 = JSON.parse(JSON.stringify(sharedPart));
const shared = new Map<string, unknown>([
  ["_shared/part.json", sharedPart],
  ["_shared/part-07.json", { ...part07, $schema: "http://json-schema.org/draft-07/schema#" }],
]);

interface Subject extends RandomSchema {
  readonly index: number;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly validators: Validators;
  readonly original: (value: unknown) => boolean;
  readonly expressible: (value: unknown) => boolean;
  readonly sources: ReadonlyMap<string, string>;
}

describe("random schemas", () => {
  it(`${schemaCount} of them, seed ${seed}: nothing disagrees`, { timeout: 3_600_000 }, async (test) => {
    const tally = { keywords: new Map<string, number>(), refused: new Map<string, number>(), accepted: 0 };
    const schemas = fc.sample(randomSchema, { numRuns: schemaCount, seed });
    const disagreements: string[] = [];
    for (let from = 0; from < schemas.length; from += schemasPerProgram) {
      const subjects: Subject[] = [];
      for (const [offset, random] of schemas.slice(from, from + schemasPerProgram).entries()) {
        const subject = await subjectOf(random, from + offset, tally.refused);
        if (subject === undefined) continue;
        subjects.push(subject);
        tally.accepted += 1;
        for (const name of new Set(keywordsIn(random.schema)))
          tally.keywords.set(name, (tally.keywords.get(name) ?? 0) + 1);
      }
      disagreements.push(...judge(subjects));
    }
    test.diagnostic(
      `accepted ${tally.accepted} of ${schemas.length}; refused: ${listing(tally.refused, schemas.length)}`,
    );
    test.diagnostic(`of the accepted: ${listing(tally.keywords, tally.accepted)}`);
    // One of each kind, the shortest: schemas are long, and one fault shows many times.
    const kinds = new Map<string, string>();
    for (const text of disagreements.sort((a, b) => b.length - a.length)) kinds.set(text.split(":")[0] ?? "", text);
    assert.equal(disagreements.length, 0, [...kinds.values()].join("\n\n"));
    assert.ok(tally.accepted > schemas.length / 2, "most random schemas are accepted");
    const rare = [...tally.keywords].filter(([, count]) => count < tally.accepted / 100).map(([name]) => name);
    assert.deepEqual(rare, [], "every keyword and nesting in at least 1 % of the schemas");
  });
});

async function subjectOf(
  random: RandomSchema,
  index: number,
  refused: Map<string, number>,
): Promise<Subject | undefined> {
  const { schema, dialect } = random;
  const named = { ...schema, $schema: dialect === "draft-07" ? "http://json-schema.org/draft-07/schema#" : undefined };
  const text = JSON.stringify(named);
  const texts = new Map([
    ["message.json", text],
    ...[...shared].map(([path, value]) => [path, JSON.stringify(value)] as const),
  ]);
  const loaded = schemasFromTexts(texts, "schemas");
  try {
    const { files } = await emit(loaded, { display: "schemas", schemasFromOut: "../schemas" });
    const dice = new Dice(seed + index);
    const values = valuesNear(JSON.parse(text), dice, shared, valuesPerSchema);
    const file = loaded.files.get("message.json");
    assert.ok(file !== undefined);
    const bundle = bundleSchema({ file, files: loaded.files, dialect });
    const weak = {
      ...bundle,
      root: erased(bundle.root),
      definitions: new Map([...bundle.definitions].map(([key, value]) => [key, erased(value)])),
    };
    const types = [...files].filter(([path]) => path.startsWith("types/") && path.endsWith(".d.ts"));
    return {
      ...random,
      index,
      text,
      values,
      validators: runValidators(files.get("validators/message.js") ?? ""),
      original: originalOf(JSON.parse(text), dialect),
      expressible: compiled(publishSchema(weak), dialect),
      sources: new Map(types.map(([path, content]) => [`/fuzz/${index}/${path}`, content])),
    };
  } catch (error) {
    if (!(error instanceof CodegenError)) throw new Error(`schema ${index}: ${text}`, { cause: error });
    for (const rule of new Set(error.problems.map((problem) => problem.rule))) {
      refused.set(rule, (refused.get(rule) ?? 0) + 1);
    }
    return undefined;
  }
}

function judge(subjects: readonly Subject[]): string[] {
  const sources = new Map([["/fuzz/mark.d.ts", "declare const mark: unique symbol;\n"]]);
  for (const { index, values, sources: own } of subjects) {
    for (const [path, text] of own) {
      sources.set(path, text);
      sources.set(path.replace("/types/", "/marked/"), marked(text));
    }
    const lines = [
      'import type { Message as M } from "./types/message.js"; import type { Message as N } from "./marked/message.js"; declare function take(value: M): void; declare function takeMarked(value: N): void;',
    ];
    for (const value of values) {
      lines.push(`take(${literal(value)});`, `takeMarked(null as unknown as ${exactType(value, "[mark]: 1")});`);
    }
    sources.set(`/fuzz/${index}/samples.ts`, lines.join("\n"));
  }
  const errors = typeErrors(sources);
  return subjects.flatMap((subject) => {
    const declared = [...subject.sources.keys()].flatMap((path) => errors.get(path) ?? []);
    if (declared.length > 0) return [`does not compile: ${declared[0]?.text} ${subject.text}`];
    const own = errors.get(`/fuzz/${subject.index}/samples.ts`) ?? [];
    const failed = new Set(own.map(({ line }) => line));
    return subject.values.flatMap((value, at) =>
      disagreement(subject, value, !failed.has(1 + 2 * at), !failed.has(2 + 2 * at)),
    );
  });
}

/**
 * The declarations with one more required key in every object, which every value of `markedType` has too. Without it
 * TypeScript's check of all-optional types, a lint about literals that share no key, would speak up.
 */
function marked(declarations: string): string {
  return declarations.replace(/^(?!\s*\*)(.*\{)$/gm, "$1 [mark]: 1;");
}

function disagreement(subject: Subject, value: unknown, literalFits: boolean, typeFits: boolean): string[] {
  const { validators, original, expressible } = subject;
  const valid = original(value);
  const published = validators.publish(value);
  const closing = (validators.publish.errors ?? []).some(({ keyword }) =>
    /^(additional|unevaluated)Properties$/.test(keyword),
  );
  const delivered = validators.deliver(value);
  const faults = [
    published && !valid ? "publish accepts what the original refuses" : undefined,
    valid && !published && !closing
      ? "publish refuses what the original accepts, and no unknown key is why"
      : undefined,
    valid && !delivered ? "deliver refuses what the original accepts" : undefined,
    published && !delivered ? "published, but not delivered" : undefined,
    delivered && !typeFits ? "delivered, but not of the handler's type" : undefined,
    published && !literalFits ? "published, but its literal does not compile" : undefined,
    literalFits && !expressible(value) ? "its literal compiles, but a type could have refused it" : undefined,
  ];
  return faults
    .filter((fault) => fault !== undefined)
    .map((fault) => `${fault}: ${JSON.stringify(value)} under ${subject.text}`);
}

function originalOf(schema: object, dialect: RandomSchema["dialect"]): (value: unknown) => boolean {
  const ajv = new (dialect === "draft-07" ? Ajv : Ajv2020)({ ...validationOptions, logger: false });
  addFormats.default(ajv);
  for (const [path, value] of shared) {
    if (path.includes("07") === (dialect === "draft-07"))
      ajv.addSchema({ ...(value as object), $id: `file:///schemas/${path}` });
  }
  const validate = ajv.compile({ ...schema, $id: "file:///schemas/message.json" });
  return (value) => validate(value) === true;
}

function compiled(schema: unknown, dialect: RandomSchema["dialect"]): (value: unknown) => boolean {
  const ajv = new (dialect === "draft-07" ? Ajv2019 : Ajv2020)({ ...validationOptions, strict: false, logger: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schema as object);
  return (value) => validate(value) === true;
}

const holders: readonly [string, string][] = [
  ["property", "properties patternProperties additionalProperties unevaluatedProperties"],
  ["item", "items prefixItems additionalItems"],
  ["branch", "allOf anyOf oneOf then else dependentSchemas dependencies"],
  ["test", "if not contains propertyNames"],
];

function* keywordsIn(schema: unknown, holder = ""): Generator<string> {
  if (!isSchemaObject(schema)) return;
  for (const keyword of Object.keys(schema)) if (keyword !== "$defs" && keyword !== "definitions") yield keyword;
  if (holder !== "") yield `${holders.find(([, names]) => names.includes(holder))?.[0]} > ${kindOf(schema)}`;
  for (const sub of subschemas(schema)) {
    if (sub.keyword !== "$defs" && sub.keyword !== "definitions") yield* keywordsIn(sub.schema, sub.keyword);
  }
}

function kindOf(schema: Readonly<Record<string, unknown>>): string {
  if ("$ref" in schema) return "$ref";
  if ("allOf" in schema || "if" in schema) return "composition";
  if ("anyOf" in schema || "oneOf" in schema) return "union";
  if (schema.type === "object" || schema.type === "array") return schema.type;
  return Object.keys(schema).length === 0 ? "any" : "scalar";
}

function listing(counts: ReadonlyMap<string, number>, of: number): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${name} ${((100 * count) / of).toFixed(1)} %`).join(", ");
}
