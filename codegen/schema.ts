/** JSON Schema as data: which keywords hold schemas, and in what role. One table for every walk over a schema. */
import { childPointer } from "./pointer.js";

/** An object schema; boolean schemas are told apart by `isSchemaObject`. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** The dialects a schema file may be written in. */
export type Dialect = "2020-12" | "draft-07";

/** Whether a subschema speaks of the same value (`same`), of a part of it (`part`), or only asks a question about it (`test`). */
export type Role = "same" | "part" | "test";

/** A subschema of a schema. */
export interface Subschema {
  readonly keyword: string;
  readonly pointer: string;
  readonly schema: unknown;
  readonly role: Role;
}

type Holder = { readonly form: "one" | "list" | "map"; readonly role: Role };

const holders: Readonly<Record<string, Holder>> = {
  properties: { form: "map", role: "part" },
  patternProperties: { form: "map", role: "part" },
  additionalProperties: { form: "one", role: "part" },
  unevaluatedProperties: { form: "one", role: "part" },
  prefixItems: { form: "list", role: "part" },
  items: { form: "one", role: "part" },
  additionalItems: { form: "one", role: "part" },
  unevaluatedItems: { form: "one", role: "part" },
  allOf: { form: "list", role: "same" },
  anyOf: { form: "list", role: "same" },
  oneOf: { form: "list", role: "same" },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: { form: "one", role: "same" },
  else: { form: "one", role: "same" },
  dependentSchemas: { form: "map", role: "same" },
  dependencies: { form: "map", role: "same" },
  if: { form: "one", role: "test" },
  not: { form: "one", role: "test" },
  contains: { form: "one", role: "test" },
  propertyNames: { form: "one", role: "test" },
  $defs: { form: "map", role: "part" },
  definitions: { form: "map", role: "part" },
};

/** Keywords that say nothing about which values are valid. */
export const annotationKeywords: ReadonlySet<string> = new Set([
  "$schema",
  "$comment",
  "title",
  "description",
  "examples",
  "default",
  "deprecated",
  "readOnly",
  "writeOnly",
  "x-queue",
]);

/** Whether a schema is an object and not `true` or `false`. */
export function isSchemaObject(schema: unknown): schema is SchemaObject {
  return typeof schema === "object" && schema !== null && !Array.isArray(schema);
}

/** Whether a keyword is an annotation or an extension (`x-…`). */
export function isAnnotation(keyword: string): boolean {
  return annotationKeywords.has(keyword) || keyword.startsWith("x-");
}

/** The direct subschemas of a schema, in order of appearance. */
export function* subschemas(schema: SchemaObject, pointer = ""): Generator<Subschema> {
  for (const [keyword, value] of Object.entries(schema)) {
    const holder = Object.hasOwn(holders, keyword) ? holders[keyword] : undefined;
    if (holder === undefined) continue;
    const { role } = holder;
    for (const [key, member] of members(holder, keyword, value)) {
      const at = childPointer(pointer, keyword);
      yield { keyword, role, schema: member, pointer: key === undefined ? at : childPointer(at, key) };
    }
  }
}

/** Applies a function to the direct subschemas and gives the schema back with their results in place. */
export function mapSubschemas(
  schema: SchemaObject,
  map: (sub: Omit<Subschema, "pointer"> & { key?: string }) => unknown,
) {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const holder = Object.hasOwn(holders, keyword) ? holders[keyword] : undefined;
    result[keyword] = holder === undefined ? value : mapHolder(holder, keyword, value, map);
  }
  return result;
}

function mapHolder(
  holder: Holder,
  keyword: string,
  value: unknown,
  map: (sub: Omit<Subschema, "pointer"> & { key?: string }) => unknown,
): unknown {
  const { role } = holder;
  if (Array.isArray(value)) {
    return value.map((schema, index) => map({ keyword, role, schema, key: String(index) }));
  }
  if (holder.form !== "map") return isSchema(value) ? map({ keyword, role, schema: value }) : value;
  const entries = Object.entries(value as object).map(([key, schema]) => [
    key,
    isSchema(schema) ? map({ keyword, role, schema, key }) : schema,
  ]);
  return Object.fromEntries(entries);
}

function* members(holder: Holder, keyword: string, value: unknown): Generator<[string | undefined, unknown]> {
  // Draft-07's `items` may be a list; its `dependencies` may hold lists of names.
  if (Array.isArray(value) && (holder.form === "list" || keyword === "items")) {
    for (const [index, schema] of value.entries()) yield [String(index), schema];
  } else if (holder.form === "map" && isSchemaObject(value)) {
    for (const [key, schema] of Object.entries(value)) if (isSchema(schema)) yield [key, schema];
  } else if (holder.form === "one" && isSchema(value)) {
    yield [undefined, value];
  }
}

function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isSchemaObject(value);
}
