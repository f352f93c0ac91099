/** Schemas that all speak of the same value, seen as one: `allOf` flattened, references followed. */
import { isSchemaObject, type SchemaObject } from "../schema.js";
import type { SchemaDocument } from "./document.js";

/** Flattened parts of a conjunction; `never` when one of them accepts nothing. */
export interface Conjunction {
  readonly parts: readonly SchemaObject[];
  readonly never: boolean;
}

/** Follows `$ref` and `allOf` until only keywords are left. */
export function conjunctionOf(schemas: readonly unknown[], document: SchemaDocument): Conjunction {
  const parts: SchemaObject[] = [];
  const seen = new Set<unknown>();
  let never = false;
  const visit = (schema: unknown): void => {
    if (schema === false) never = true;
    if (!isSchemaObject(schema) || seen.has(schema)) return;
    seen.add(schema);
    const { $ref, allOf, $defs: _, ...own } = schema;
    if (Object.keys(own).length > 0) parts.push(own);
    if (typeof $ref === "string") visit(document.resolve($ref));
    if (Array.isArray(allOf)) allOf.forEach(visit);
  };
  schemas.forEach(visit);
  return { parts, never };
}

const allTypes = ["object", "array", "string", "number", "boolean", "null"];

/** The JSON types a conjunction leaves; `integer` only where nothing wider is allowed. */
export function typesOf(parts: readonly SchemaObject[]): string[] {
  let types: string[] = allTypes;
  for (const { type } of parts) {
    if (type === undefined) continue;
    const list = (Array.isArray(type) ? type : [type]) as string[];
    types = types.flatMap((known) => {
      if (list.includes(known) || (known === "integer" && list.includes("number"))) return [known];
      return known === "number" && list.includes("integer") ? ["integer"] : [];
    });
  }
  return types;
}

/** The listed values of a conjunction, when it lists any. */
export function valuesOf(parts: readonly SchemaObject[]): readonly unknown[] | undefined {
  for (const part of parts) {
    if ("const" in part) return [part.const];
    if (Array.isArray(part.enum)) return part.enum;
  }
  return undefined;
}

/** The largest, or the smallest, of a numeric keyword over all parts. */
export function boundOf(parts: readonly SchemaObject[], keyword: string, pick: "max" | "min"): number | undefined {
  const bounds = parts.map((part) => part[keyword]).filter((bound): bound is number => typeof bound === "number");
  return bounds.length === 0 ? undefined : Math[pick](...bounds);
}

/** The positions and the rest of an array schema, whichever dialect wrote it. */
export function tupleOf(part: SchemaObject): { prefix: readonly unknown[]; rest: unknown } {
  if (Array.isArray(part.items)) return { prefix: part.items, rest: part.additionalItems ?? true };
  return { prefix: Array.isArray(part.prefixItems) ? part.prefixItems : [], rest: part.items ?? true };
}

/** What a conjunction says of the item at an index; past every prefix, of all further ones. */
export function itemOf(parts: readonly SchemaObject[], index: number): unknown[] {
  return parts.map(tupleOf).map(({ prefix, rest }) => prefix[index] ?? rest);
}

/** The length of the longest prefix. */
export function prefixLength(parts: readonly SchemaObject[]): number {
  return Math.max(0, ...parts.map((part) => tupleOf(part).prefix.length));
}

/** The keys that any part names. */
export function keysOf(parts: readonly SchemaObject[]): string[] {
  return [...new Set(parts.flatMap((part) => (isSchemaObject(part.properties) ? Object.keys(part.properties) : [])))];
}

/** The keys that any part requires. */
export function requiredOf(parts: readonly SchemaObject[]): string[] {
  return [...new Set(parts.flatMap((part) => (Array.isArray(part.required) ? (part.required as string[]) : [])))];
}

/** What a conjunction says of the value under a key. */
export function propertyOf(parts: readonly SchemaObject[], key: string): unknown[] {
  const named = new Set(keysOf(parts));
  return parts.flatMap((part) => {
    const properties = isSchemaObject(part.properties) ? part.properties : {};
    const patterns = patternsOf(part).filter(([source]) => new RegExp(source, "u").test(key));
    const own = Object.hasOwn(properties, key) ? [properties[key]] : [];
    if (own.length + patterns.length > 0) return [...own, ...patterns.map(([, schema]) => schema)];
    if (part.additionalProperties !== undefined) return [part.additionalProperties];
    // Unevaluated is what no part of the composition names.
    return part.unevaluatedProperties !== undefined && !named.has(key) ? [part.unevaluatedProperties] : [];
  });
}

/** What a conjunction says of the value under a key that no part names and no pattern matches. */
export function restOf(parts: readonly SchemaObject[]): unknown[] {
  return parts.flatMap((part) => {
    const rest = part.additionalProperties ?? part.unevaluatedProperties;
    return rest === undefined ? [] : [rest];
  });
}

/** `patternProperties` of one part. */
export function patternsOf(part: SchemaObject): [string, unknown][] {
  return isSchemaObject(part.patternProperties) ? Object.entries(part.patternProperties) : [];
}
