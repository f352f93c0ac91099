/** Two validators per queue as standalone ESM: nothing is compiled when the application starts. */
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";
import type { Bundle } from "../bundle.js";
import type { QueueModel } from "../model.js";
import { deliverSchema } from "../variants/deliver-schema.js";
import { publishSchema } from "../variants/publish-schema.js";
import { header } from "./header.js";
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
  const publish = publishSchema(bundle);
  const deliver = deliverSchema(bundle);
  // A fresh instance per queue: with a shared one the names inside depend on what was compiled before.
  // Draft-07 compiles as 2019-09, which reads its keywords alike and knows `unevaluatedProperties`.
  const ajvClass = bundle.dialect === "2020-12" ? Ajv2020 : Ajv2019;
  const ajv = new ajvClass({
    ...validationOptions,
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
  ajv.addSchema(publish as object, "publish");
  ajv.addSchema(deliver as object, "deliver");
  const code = standalone.default(ajv, { publish: "publish", deliver: "deliver" });
  const body = validatorModuleBody(code);
  // The strings in it came from a schema.
  const fault = scriptFault(body);
  if (fault !== undefined) throw new Error(`the generated validators do not parse: ${fault}`);
  return `${header(display)}\n${body}`;
}

/** Their declarations. */
export function validatorsDeclarations(queue: QueueModel): string {
  return [
    header(queue.file.display),
    'import type { Validate } from "postrider";',
    "/** Strict, for publishing: unknown properties are refused. */",
    "export declare const publish: Validate;",
    "/** Lenient, for delivery: unknown properties are ignored. */",
    "export declare const deliver: Validate;",
    "",
  ].join("\n");
}
