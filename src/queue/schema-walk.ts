/** From a place in a message to the parts of its schema that speak of it, with where each of them stands. */
import { unescapedPart } from "./pointer.js";

/** A part of a schema, and its place: a file below the schema folder and a JSON Pointer. */
export interface SchemaPart {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly place: string;
}

/** A place to start from: the recorded schema of a queue and its file. */
export interface SchemaRoot {
  readonly document: unknown;
  readonly source: string;
}

/** Bounds recursion through definitions that refer to each other. */
const maxParts = 200;

/** A schema and everything it takes in for the same value: references, `allOf`, and the branches of unions. */
export function partsOf(root: SchemaRoot, schema: unknown, place: string, branches: boolean): SchemaPart[] {
  const parts: SchemaPart[] = [];
  const seen = new Set<unknown>();
  const visit = (current: unknown, at: string): void => {
    if (!isObject(current) || seen.has(current) || parts.length >= maxParts) return;
    seen.add(current);
    parts.push({ schema: current, place: at });
    if (typeof current.$ref === "string") {
      const target = resolve(root, current.$ref);
      visit(target.schema, target.place);
    }
    for (const keyword of ["allOf", ...(branches ? ["anyOf", "oneOf"] : [])]) {
      const list = current[keyword];
      if (Array.isArray(list)) for (const [index, member] of list.entries()) visit(member, `${at}/${keyword}/${index}`);
    }
    for (const keyword of ["then", "else"]) if (keyword in current) visit(current[keyword], `${at}/${keyword}`);
  };
  visit(schema, place);
  return parts;
}

/** The parts that speak of the value at a pointer. */
export function partsAt(root: SchemaRoot, pointer: string): SchemaPart[] {
  let parts = partsOf(root, root.document, `${root.source}#`, true);
  for (const token of pointer.split("/").slice(1)) {
    const key = unescapedPart(token);
    parts = parts.flatMap((part) => childrenOf(root, part, key, token));
  }
  return parts;
}

function childrenOf(root: SchemaRoot, { schema, place }: SchemaPart, key: string, token: string): SchemaPart[] {
  const down = (child: unknown, path: string) => partsOf(root, child, `${place}/${path}`, true);
  if (isObject(schema.properties) && Object.hasOwn(schema.properties, key)) {
    return down(schema.properties[key], `properties/${token}`);
  }
  const tuple = Array.isArray(schema.prefixItems) ? "prefixItems" : "items";
  const list = schema[tuple];
  if (Array.isArray(list) && list[Number(key)] !== undefined) return down(list[Number(key)], `${tuple}/${key}`);
  if (isObject(schema.items) && /^\d+$/.test(key)) return down(schema.items, "items");
  return isObject(schema.additionalProperties) ? down(schema.additionalProperties, "additionalProperties") : [];
}

function resolve(root: SchemaRoot, ref: string): { schema: unknown; place: string } {
  const path = decodeURIComponent(ref.slice(1));
  let current: unknown = root.document;
  const tokens = path.split("/").slice(1);
  for (const token of tokens) {
    const key = unescapedPart(token);
    current = isObject(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  }
  // Definitions of other files are recorded under the file's path.
  const name = unescapedPart(tokens[1] ?? "");
  if (!name.includes(".json"))
    return { schema: current, place: `${root.source}#${name.startsWith("#") ? name.slice(1) : path}` };
  return { schema: current, place: name.includes("#") ? name : `${name}#` };
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
