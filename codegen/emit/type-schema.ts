/** Shapes as the small dialect of JSON Schema that json-schema-to-typescript gets right. */
import type { JSONSchema } from "json-schema-to-typescript";
import type { ArrayShape, ObjectShape, Property, Rest, Shape } from "../shape/shape.js";
import { unite } from "../shape/unite.js";
import { docText } from "./source-text.js";

/** Longest list of tuples that is written out; beyond it only the lower bound is in the type. */
const maxTuples = 20;

/** How a type refers to another: by text, because names are ours and not the library's. */
export interface TypeScope {
  /** The text of a reference. */
  reference(shape: Extract<Shape, { kind: "ref" }>): string;
  /** The name of a shape that is declared by itself, if it is. */
  inlineName(shape: Shape): string | undefined;
}

/** A shape as a schema for the library. */
export function typeSchema(shape: Shape, scope: TypeScope, top = false): JSONSchema {
  const name = top ? undefined : scope.inlineName(shape);
  if (name !== undefined) return { tsType: name };
  switch (shape.kind) {
    case "unknown":
    case "never":
      return { tsType: shape.kind };
    case "ref":
      return { tsType: scope.reference(shape) };
    case "scalar":
      return { type: shape.type };
    case "literal":
      return { enum: [shape.value] };
    case "union":
      return { anyOf: shape.members.map((member) => typeSchema(member, scope)) };
    case "array":
      return arraySchema(shape, scope);
    case "object":
      return objectSchema(shape, scope);
  }
}

function arraySchema(shape: ArrayShape, scope: TypeScope): JSONSchema {
  const { min, max, length } = lengthsOf(shape);
  if (length === 0 && max === undefined) return { type: "array", items: elementSchema(shape.rest, scope) };
  return {
    type: "array",
    items: Array.from({ length }, (_, index) => itemSchema(shape, index, scope)),
    minItems: Math.min(min, length),
    ...(max === undefined
      ? { additionalItems: typeSchema(shape.rest, scope) }
      : { additionalItems: false, maxItems: max }),
  };
}

// The lengths that are written out: tuples from `min` to `length`, the last one open when there is no `max`.
function lengthsOf({ min: wanted, max: limit, prefix }: ArrayShape): { min: number; max?: number; length: number } {
  const min = Math.min(wanted, Math.max(maxTuples, prefix.length));
  const max = limit !== undefined && limit - min <= maxTuples ? limit : undefined;
  return { min, length: max ?? Math.max(prefix.length, min), ...(max === undefined ? {} : { max }) };
}

function itemSchema(shape: ArrayShape, index: number, scope: TypeScope): JSONSchema {
  return typeSchema(shape.prefix[index] ?? shape.rest, scope);
}

// An array of arrays that have several lengths: the library joins those with `|`, and puts `[]` behind the last one alone.
function elementSchema(shape: Shape, scope: TypeScope): JSONSchema {
  if (shape.kind !== "array" || scope.inlineName(shape) !== undefined) return typeSchema(shape, scope);
  const { min, max, length } = lengthsOf(shape);
  if (length <= min) return typeSchema(shape, scope);
  const tuple = (size: number): JSONSchema => ({
    type: "array",
    items: Array.from({ length: size }, (_, index) => itemSchema(shape, index, scope)),
    minItems: size,
    ...(max === undefined && size === length
      ? { additionalItems: typeSchema(shape.rest, scope) }
      : { additionalItems: false, maxItems: size }),
  });
  return { anyOf: Array.from({ length: length - min + 1 }, (_, index) => tuple(min + index)) };
}

function objectSchema(shape: ObjectShape, scope: TypeScope): JSONSchema {
  const properties: Record<string, JSONSchema> = {};
  for (const [key, property] of shape.properties) properties[key] = propertySchema(property, scope);
  const required = [...shape.properties].filter(([, property]) => property.required).map(([key]) => key);
  const schema: JSONSchema = { type: "object", properties, required, additionalProperties: false };
  const signatures = templateSignatures(shape, scope);
  if (signatures !== undefined) return { allOf: [schema, { tsType: `{ ${signatures.join("; ")} }` }] };
  const index = indexShape(shape);
  if (index !== undefined) schema.additionalProperties = typeSchema(index, scope);
  return schema;
}

function propertySchema(property: Property, scope: TypeScope): JSONSchema {
  const schema = typeSchema(property.shape, scope);
  const lines = [
    ...(property.description === undefined ? [] : [docText(property.description).trim()]),
    ...(property.deprecated === true ? ["@deprecated"] : []),
  ].filter((line) => line !== "");
  return lines.length === 0 ? schema : { ...schema, description: lines.join("\n\n") };
}

/** What the index signature says; `undefined` when there is none. */
export function indexShape(shape: ObjectShape): Shape | undefined {
  const rest = restOf(shape.rest);
  if (shape.patterns.length === 0) {
    // `{}` would accept strings and arrays.
    return rest ?? (shape.properties.size === 0 ? { kind: "never" } : undefined);
  }
  return unite([...shape.patterns.map((pattern) => pattern.shape), ...(rest === undefined ? [] : [rest])]);
}

function restOf(rest: Rest): Shape | undefined {
  return typeof rest === "string" ? undefined : rest;
}

// `^tag_` beside named keys: a template key says what one index signature over all keys could not.
function templateSignatures(shape: ObjectShape, scope: TypeScope): string[] | undefined {
  if (shape.patterns.length === 0 || shape.properties.size === 0 || typeof shape.rest !== "string") return undefined;
  const signatures = shape.patterns.map((pattern) => {
    const prefix = /^\^([\w-]+)$/.exec(pattern.source)?.[1];
    const value = plainText(pattern.shape, scope);
    return prefix === undefined || value === undefined ? undefined : `[key: \`${prefix}\${string}\`]: ${value}`;
  });
  return signatures.every((signature) => signature !== undefined) ? signatures : undefined;
}

function plainText(shape: Shape, scope: TypeScope): string | undefined {
  const name = scope.inlineName(shape);
  if (name !== undefined) return name;
  if (shape.kind === "scalar") return shape.type;
  if (shape.kind === "literal") return JSON.stringify(shape.value);
  if (shape.kind === "ref") return scope.reference(shape);
  if (shape.kind === "unknown" || shape.kind === "never") return shape.kind;
  if (shape.kind !== "union") return undefined;
  const members = shape.members.map((member) => plainText(member, scope));
  return members.every((member) => member !== undefined) ? members.join(" | ") : undefined;
}
