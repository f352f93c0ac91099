/** Two validators per queue as standalone ESM: nothing is compiled when the application starts. */
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";
import type { QueueModel } from "../model.js";
import { deliverSchema } from "../variants/deliver-schema.js";
import { publishSchema } from "../variants/publish-schema.js";
import { header } from "./header.js";

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
  // A property called like an inherited one would otherwise always be present.
  ownProperties: true,
  // 19.99 is a multiple of 0.01 whatever binary fractions say.
  multipleOfPrecision: 9,
} as const;

/** The module with `publish` (closed) and `deliver` (open) of a queue. */
export function validatorsModule(queue: QueueModel): string {
  const publish = publishSchema(queue.bundle);
  const deliver = deliverSchema(queue.bundle);
  // A fresh instance per queue: with a shared one the names inside depend on what was compiled before.
  // Draft-07 compiles as 2019-09, which reads its keywords alike and knows `unevaluatedProperties`.
  const ajvClass = queue.bundle.dialect === "2020-12" ? Ajv2020 : Ajv2019;
  const ajv = new ajvClass({
    ...validationOptions,
    validateSchema: false,
    meta: false,
    messages: false,
    inlineRefs: false,
    logger: false,
    code: { source: true, esm: true, lines: true },
  });
  addFormats.default(ajv);
  ajv.addSchema(publish as object, "publish");
  ajv.addSchema(deliver as object, "deliver");
  const code = standalone.default(ajv, { publish: "publish", deliver: "deliver" });
  return `${header(queue.file.display)}\n${asModule(code)}`;
}

/** The run-time parts that validators may call; a test compares them with `validatorParts` of the runtime. */
export const validatorPartNames: ReadonlySet<string> = new Set(["ucs2length", "equal", "formats"]);

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

// ajv's ESM output still calls `require` for its run-time parts (ajv#1976, #2209, #2598).
function asModule(code: string): string {
  const body = code
    .replace(/^"use strict";\n?/, "")
    .replace(/require\("([^"]+)"\)/g, (_, module: string) => partOf(module));
  if (/\brequire\(/.test(body)) throw new Error("a require is left in a generated validator");
  const imports = body.includes("$rt.") ? ['import * as $rt from "postrider";'] : [];
  return `${[...imports, withoutUnusedSchemas(body).trim()].join("\n")}\n`;
}

// Generated code imports from "postrider" alone: a strict package manager would not let it see our `ajv`.
function partOf(module: string): string {
  const name = /^(?:ajv|ajv-formats)\/dist\/(?:runtime\/)?(\w+)$/.exec(module)?.[1];
  if (name === undefined || !validatorPartNames.has(name))
    throw new Error(`validators need ${module}, which postrider does not hand out`);
  return `$rt.validatorParts.${name}`;
}

// ajv embeds every schema it compiled; most are named nowhere else.
function withoutUnusedSchemas(body: string): string {
  return body.replace(/^const (schema\d+) = .*;\n/gm, (line, name: string) =>
    body.split(new RegExp(`\\b${name}\\b`)).length > 2 ? line : "",
  );
}
