/** json-schema-to-typescript, one type at a time. */
import { createRequire } from "node:module";
import { compile, DEFAULT_OPTIONS, type JSONSchema } from "json-schema-to-typescript";

const options = {
  ...DEFAULT_OPTIONS,
  bannerComment: "",
  format: false,
  additionalProperties: false,
  unknownAny: true,
  enableConstEnums: false,
  $refOptions: { resolve: { http: false, file: false } },
};

/** The stages of the library that our reference-free schemas need. */
interface Stages {
  readonly link: (schema: unknown) => unknown;
  readonly normalize: (schema: unknown, paths: WeakMap<object, string>, name: string, options: unknown) => unknown;
  readonly parse: (schema: unknown, options: unknown) => unknown;
  readonly optimize: (ast: unknown, options: unknown) => unknown;
  readonly generate: (ast: unknown, options: unknown) => string;
}

let quick: Promise<((schema: JSONSchema) => string) | undefined> | undefined;

/** The declaration of a schema under the name `T`. The library writes into the schema. */
export async function declarationText(schema: JSONSchema): Promise<string> {
  quick ??= quickCompiler();
  return (await quick)?.(schema) ?? compile(schema, "T", options);
}

// Resolving references that are not there takes more than half of the library's time. Without that stage it is three times
// as fast; should the library's insides ever look different, its front door is used.
async function quickCompiler(): Promise<((schema: JSONSchema) => string) | undefined> {
  try {
    const stages = loadStages();
    const run = (schema: JSONSchema): string => {
      const normalized = stages.normalize(stages.link(schema), new WeakMap(), "T", options);
      return stages.generate(stages.optimize(stages.parse(normalized, options), options), options);
    };
    return run(structuredClone(probe)) === (await compile(probe, "T", options)) ? run : undefined;
  } catch {
    return undefined;
  }
}

function loadStages(): Stages {
  const require = createRequire(import.meta.url);
  const part = (name: string) => require(`json-schema-to-typescript/dist/src/${name}.js`) as Stages;
  return {
    link: part("linker").link,
    normalize: part("normalizer").normalize,
    parse: part("parser").parse,
    optimize: part("optimizer").optimize,
    generate: part("generator").generate,
  };
}

const probe: JSONSchema = {
  description: "A probe.",
  type: "object",
  properties: {
    a: { anyOf: [{ type: "string" }, { enum: ["x", 1] }, { type: "null" }], description: "Words." },
    b: { type: "array", items: [{ type: "number" }], minItems: 1, additionalItems: { tsType: "B" } },
    c: { type: "object", properties: { d: { type: "boolean" } }, required: ["d"], additionalProperties: false },
    e: { allOf: [{ type: "object", additionalProperties: { tsType: "E" } }, { tsType: "F" }] },
  },
  required: ["a"],
  additionalProperties: false,
};
