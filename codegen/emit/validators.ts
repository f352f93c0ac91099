/** Two validators per queue as standalone ESM: nothing is compiled when the application starts. */
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { ValueScope } from "ajv/dist/compile/codegen/scope.js";
import standalone from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";
import type { Bundle } from "../bundle.js";
import type { Dialect } from "../schema.js";
import { bothSchema } from "../variants/both-schema.js";
import { deliverSchema } from "../variants/deliver-schema.js";
import { publishSchema } from "../variants/publish-schema.js";
import { header } from "./header.js";
import { closeForPublishOnly, notePublishOnly } from "./publish-only.js";
import { scriptFault } from "./script-fault.js";
import { validatorModuleBody } from "./validator-module.js";

/** The options that decide what a validator accepts; tests compile the original schema with the same. */
export const validationOptions = {
  strict: true,
  // The profile asks for types itself, with a place; ajv's own check would trip over the closings.
  strictTypes: false,
  // Refuses `anyOf: [{ required }]` although the parent declares the property.
  strictRequired: false,
  strictTuples: false,
  allowUnionTypes: true,
  allowMatchingProperties: true,
  // `ownProperties` would cost a third of the time of a validation. It guards against names that every object inherits,
  // and the profile refuses those.
  // 19.99 is a multiple of 0.01 whatever binary fractions say.
  multipleOfPrecision: 9,
} as const;

/** What a queue's validators are made from; plain data, so that another thread can do it. */
export interface ValidatorsSource {
  readonly path: string;
  readonly display: string;
  readonly bundle: Bundle;
}

/** The text of a module, or what ajv says against the schema. */
export type CompiledValidators =
  | { readonly text: string; readonly fault?: undefined }
  | { readonly text?: undefined; readonly fault: string };

/** Compiles the validators of several queues, by schema path. */
export function compileValidators(sources: readonly ValidatorsSource[]): Map<string, CompiledValidators> {
  return new Map(
    sources.map((source): [string, CompiledValidators] => {
      try {
        return [source.path, { text: validatorsModule(source) }];
      } catch (error) {
        return [source.path, { fault: error instanceof Error ? error.message : String(error) }];
      }
    }),
  );
}

/** The module with `publish` (closed) and `deliver` (open) of a queue. */
export function validatorsModule({ display, bundle }: ValidatorsSource): string {
  const body = validatorModuleBody(validatorsCode(bundle));
  // The strings in it came from a schema.
  const fault = scriptFault(body);
  if (fault !== undefined) throw new Error(`the generated validators do not parse: ${fault}`);
  return `${header(display)}\n${body}`;
}

function validatorsCode(bundle: Bundle): string {
  const both = bothSchema(bundle);
  if (both === undefined) {
    const ajv = emptyAjv(bundle.dialect, "each");
    ajv.addSchema(publishSchema(bundle) as object, "publish");
    ajv.addSchema(deliverSchema(bundle) as object, "deliver");
    return standalone.default(ajv, { publish: "publish", deliver: "deliver" });
  }
  const ajv = emptyAjv(bundle.dialect, "both");
  notePublishOnly(both);
  ajv.addSchema(both.schema as object, "both");
  return `${standalone.default(ajv, { $check: "both" }).replace("export const $check", "const $check")}${sides}`;
}

// `this` is whether the message is being published.
const sides = ["publish", "deliver"]
  .map(
    (side) =>
      `export const ${side} = ($message) => { const $valid = $check.call(${side === "publish"}, $message); ${side}.errors = $check.errors; return $valid; };\n`,
  )
  .join("");

const instances = new Map<string, Ajv2020 | Ajv2019>();

// Emptied and with a new scope for every queue: else the names inside would depend on what was compiled before.
function emptyAjv(dialect: Dialect, kind: "both" | "each"): Ajv2020 | Ajv2019 {
  const key = `${dialect} ${kind}`;
  const ajv = instances.get(key) ?? newAjv(dialect, kind);
  instances.set(key, ajv);
  ajv.removeSchema();
  (ajv as { scope: ValueScope }).scope = new ValueScope({ ...ajv.scope.opts, scope: {} });
  return ajv;
}

function newAjv(dialect: Dialect, kind: "both" | "each"): Ajv2020 | Ajv2019 {
  // Draft-07 compiles as 2019-09, which reads its keywords alike and knows `unevaluatedProperties`.
  const ajv = new (dialect === "2020-12" ? Ajv2020 : Ajv2019)({
    ...validationOptions,
    passContext: kind === "both",
    validateSchema: false,
    meta: false,
    messages: false,
    inlineRefs: false,
    logger: false,
    // ajv's optimiser and its line breaks cost more than half of the time, and the result runs no faster.
    // Only the source is wanted: what ajv would run is never called, and need not be compiled by the engine.
    code: { source: true, esm: true, optimize: false, process: () => "return () => true" },
  });
  addFormats.default(ajv);
  if (kind === "both") closeForPublishOnly(ajv);
  return ajv;
}
