/** The rules of the profile, one function each. The table in the docs is in the same order. */
import { fullFormats } from "ajv-formats/dist/formats.js";
import { dialectOf } from "./dialect.js";
import { allowedKeywords, keywordTypes, refusedKeywords } from "./keywords.js";
import { nearestWord } from "./nearest.js";
import { patternRule } from "./pattern-rules.js";
import { valueAt } from "./pointer.js";
import type { Visit } from "./profile.js";
import { resolveReference } from "./reference.js";
import { isAnnotation, isSchemaObject } from "./schema.js";
import { inheritedNames } from "./surface.js";

type Rule = (visit: Visit) => void;

/** More properties in one object than any message has. */
const maxProperties = 1_000;
/** Longest tuple that is written out. */
const maxTuple = 1_000;

function keywordRule({ schema, dialect, role, refuse }: Visit): void {
  const allowed = allowedKeywords(dialect);
  for (const keyword of Object.keys(schema)) {
    const hint = refusedKeywords.get(keyword);
    const quoted = JSON.stringify(keyword);
    if (hint !== undefined) {
      refuse(keyword, {
        rule: keyword === "$id" || keyword === "id" ? "no-id" : "refused-keyword",
        message: `the keyword ${quoted} is not supported in queue schemas`,
        hint,
      });
    } else if ((keyword === "x-queue" || keyword === "$schema") && role !== "root") {
      refuse(keyword, { rule: "root-only", message: `${quoted} belongs to the top of the file` });
    } else if (!allowed.has(keyword) && !keyword.startsWith("x-")) {
      const near = nearestWord(keyword, allowed);
      const message = `unknown keyword ${quoted} (${dialect})`;
      refuse(keyword, {
        rule: "unknown-keyword",
        message,
        ...(near === undefined ? {} : { hint: `did you mean "${near}"?` }),
      });
    }
  }
  if ("$defs" in schema && "definitions" in schema) {
    refuse("definitions", {
      rule: "one-defs",
      message: "both $defs and definitions",
      hint: "move everything to $defs",
    });
  }
}

function typeRule({ schema, types, refuse }: Visit): void {
  for (const keyword of Object.keys(schema)) {
    const wanted = keywordTypes.get(keyword);
    if (wanted === undefined) continue;
    const quoted = JSON.stringify(keyword);
    if (types === undefined) {
      const hint = `add "type": "${wanted[0]}"`;
      refuse(keyword, {
        rule: "type-required",
        message: `${quoted} without a type lets every other type through`,
        hint,
      });
    } else if (!types.some((type) => wanted.includes(type))) {
      refuse(keyword, {
        rule: "type-mismatch",
        message: `${quoted} checks nothing: the type is ${types.join(" or ")}`,
      });
    }
  }
}

function referenceRule({ schema, place, dialect, files, refuse }: Visit): void {
  if (typeof schema.$ref !== "string") return;
  const resolved = resolveReference(schema.$ref, place.file, files);
  if (resolved.fault !== undefined) {
    refuse("$ref", resolved.fault);
    return;
  }
  const { file, pointer } = resolved.target;
  const target = valueAt(file.json.value, pointer);
  if (file.role === "settings" || (typeof target !== "boolean" && !isSchemaObject(target))) {
    refuse("$ref", { rule: "ref-missing", message: `${JSON.stringify(schema.$ref)} is no schema` });
    return;
  }
  if (dialectOf(file) !== dialect) {
    refuse("$ref", {
      rule: "dialect-mix",
      message: `${file.display} is written in ${dialectOf(file)}, this file in ${dialect}`,
    });
  }
  const siblings = Object.keys(schema).filter(
    (key) => key !== "$ref" && !isAnnotation(key) && !/^(\$defs|definitions)$/.test(key),
  );
  if (dialect === "draft-07" && siblings.length > 0) {
    const message = `draft-07 ignores ${siblings.map((key) => JSON.stringify(key)).join(", ")} beside $ref`;
    refuse(siblings[0] ?? "$ref", {
      rule: "ref-siblings",
      message,
      hint: 'write "allOf": [{ "$ref": … }] and put the rest beside it',
    });
  }
}

function nameRule({ schema, refuse }: Visit): void {
  for (const holder of [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependentRequired",
  ]) {
    const map = schema[holder];
    if (!isSchemaObject(map)) continue;
    const keys = Object.keys(map);
    if (keys.length > maxProperties) {
      refuse(holder, { rule: "too-large", message: `${keys.length} entries; at most ${maxProperties}` });
    }
    for (const key of keys) {
      if (!key.includes("*/")) continue;
      refuse([holder, key], {
        rule: "comment-end",
        message: `the key ${JSON.stringify(key)} holds "*/", which ends a comment`,
      });
    }
  }
  const holders = ["properties", "dependentRequired", "dependentSchemas", "dependencies"] as const;
  const names = [
    ...holders.flatMap((holder) => (isSchemaObject(schema[holder]) ? Object.keys(schema[holder]) : [])),
    ...(Array.isArray(schema.required) ? (schema.required as string[]) : []),
  ];
  for (const name of new Set(names)) {
    if (!inheritedNames.has(name)) continue;
    const declared = isSchemaObject(schema.properties) && Object.hasOwn(schema.properties, name);
    refuse(declared ? ["properties", name] : "required", {
      rule: "property-inherited",
      message: `property "${name}" is inherited by every JavaScript object; rename it`,
    });
  }
}

function valueRule({ schema, types, refuse }: Visit): void {
  if (Array.isArray(schema.enum)) {
    if (schema.enum.length === 0) refuse("enum", { rule: "never-matches", message: "an empty enum accepts nothing" });
    for (const [index, value] of schema.enum.entries()) {
      if (types === undefined || types.some((type) => isOfType(value, type))) continue;
      const message = `${shown(value)} can never match the type ${types.join(" or ")}`;
      refuse(["enum", index], { rule: "enum-type", message });
    }
    const nullable = Array.isArray(schema.type) && schema.type.includes("null");
    if (nullable && !schema.enum.includes(null)) {
      const message = "the type allows null but the enum does not list it";
      refuse("enum", { rule: "enum-null", message, hint: 'add null to the enum, or take "null" out of the type' });
    }
  }
  if ("const" in schema && types !== undefined && !types.some((type) => isOfType(schema.const, type))) {
    refuse("const", {
      rule: "enum-type",
      message: `${shown(schema.const)} can never match the type ${types.join(" or ")}`,
    });
  }
}

function boundsRule({ schema, refuse }: Visit): void {
  for (const keyword of ["minItems", "minProperties"]) {
    const bound = schema[keyword];
    if (typeof bound !== "number" || bound <= maxTuple) continue;
    refuse(keyword, { rule: "too-large", message: `${keyword} ${bound}; at most ${maxTuple}` });
  }
  if (schema.if !== undefined && schema.then === undefined && schema.else === undefined) {
    refuse("if", { rule: "if-unsupported", message: "an if without then or else checks nothing" });
  }
  for (const keyword of ["then", "else"]) {
    if (schema.if !== undefined || schema[keyword] === undefined) continue;
    refuse(keyword, { rule: "if-unsupported", message: `${keyword} without if checks nothing` });
  }
}

function formatRule({ schema, types, refuse }: Visit): void {
  if (typeof schema.format !== "string") return;
  if (!Object.hasOwn(fullFormats, schema.format)) {
    const near = nearestWord(schema.format, Object.keys(fullFormats));
    const hint = near === undefined ? {} : { hint: `did you mean "${near}"?` };
    refuse("format", {
      rule: "unknown-format",
      message: `unknown format ${JSON.stringify(schema.format)}`,
      ...hint,
    });
    return;
  }
  if (types === undefined) {
    const message = '"format" without a type lets every other type through';
    refuse("format", { rule: "type-required", message, hint: 'add "type": "string"' });
  }
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isSchemaObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

/** Every rule, in the order of the docs. */
export const profileRules: readonly Rule[] = [
  keywordRule,
  typeRule,
  referenceRule,
  nameRule,
  valueRule,
  boundsRule,
  formatRule,
  patternRule,
];
