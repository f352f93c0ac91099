/** Rewrites of a bundle, definition by definition: a definition may be needed in several modes, each is written once. */
import { type Bundle, definitionRef, rootKey } from "../bundle.js";
import { isSchemaObject, mapSubschemas, type SchemaObject, type Subschema } from "../schema.js";

/** How one schema is rewritten. The mode says in what role it stands; references lead to the definition in a mode. */
export interface Rewriter<Mode extends string> {
  /** The mode of the root; definitions in it keep their own name. */
  readonly first: Mode;
  /** The mode of a subschema, or of what `$ref` leads to. */
  modeOf(sub: Pick<Subschema, "keyword" | "role">, schema: SchemaObject, mode: Mode): Mode;
  /** What is changed about a schema whose subschemas are already rewritten; `original` is what it was. */
  finish(result: Record<string, unknown>, original: SchemaObject, mode: Mode): void;
}

/** Applies a rewriter to a whole bundle and gives one document. */
export function rewriteBundle<Mode extends string>(bundle: Bundle, rewriter: Rewriter<Mode>): unknown {
  const written = new Map<string, unknown>();
  const keys = new Map([...bundle.definitions.keys(), rootKey].map((key) => [definitionRef(key), key]));

  function rewrite(schema: unknown, mode: Mode): unknown {
    if (!isSchemaObject(schema)) return schema;
    const result = mapSubschemas(schema, (sub) => rewrite(sub.schema, rewriter.modeOf(sub, schema, mode)));
    if (typeof schema.$ref === "string") {
      result.$ref = reference(schema.$ref, rewriter.modeOf({ keyword: "$ref", role: "same" }, schema, mode));
    }
    rewriter.finish(result, schema, mode);
    return result;
  }

  function reference(ref: string, mode: Mode): string {
    const key = keys.get(ref) as string;
    if (key === rootKey && mode === rewriter.first) return "#";
    const name = mode === rewriter.first ? key : `${key}:${mode}`;
    if (!written.has(name)) {
      written.set(name, undefined);
      written.set(name, rewrite(key === rootKey ? bundle.root : bundle.definitions.get(key), mode));
    }
    return definitionRef(name);
  }

  const root = rewrite(bundle.root, rewriter.first);
  // Put into the object itself: a rewriter may have taken note of it.
  if (isSchemaObject(root) && written.size > 0) Object.assign(root, { $defs: Object.fromEntries(written) });
  return root;
}

/** Whether a composition names properties anywhere: in the schema, in its branches, in what it refers to. */
export function declaresProperties(schema: unknown, bundle: Bundle): boolean {
  const keys = new Map([...bundle.definitions.keys(), rootKey].map((key) => [definitionRef(key), key]));
  const seen = new Set<unknown>();
  const look = (current: unknown): boolean => {
    if (!isSchemaObject(current) || seen.has(current)) return false;
    seen.add(current);
    if (hasEntries(current.properties)) return true;
    const key = typeof current.$ref === "string" ? keys.get(current.$ref) : undefined;
    if (key !== undefined && look(key === rootKey ? bundle.root : bundle.definitions.get(key))) return true;
    return inPlace(current).some(look);
  };
  return look(schema);
}

/** Whether a map keyword holds anything. */
export function hasEntries(map: unknown): boolean {
  return isSchemaObject(map) && Object.keys(map).length > 0;
}

/** Whether a schema is made of others that speak of the same value. */
export function isComposed(schema: SchemaObject): boolean {
  return typeof schema.$ref === "string" || inPlace(schema).length > 0;
}

function inPlace(schema: SchemaObject): unknown[] {
  return [
    ...["allOf", "anyOf", "oneOf"].flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : [])),
    ...["then", "else"].flatMap((keyword) => (schema[keyword] === undefined ? [] : [schema[keyword]])),
    ...["dependentSchemas", "dependencies"].flatMap((keyword) =>
      isSchemaObject(schema[keyword]) ? Object.values(schema[keyword]).filter(isSchemaObject) : [],
    ),
  ];
}
