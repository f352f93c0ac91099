/**
 * One self-contained schema per queue: the root and every definition it reaches, annotations stripped, references local.
 * It is what ajv compiles, what the registry records, and what the schema hash is taken of.
 */
import { createHash } from "node:crypto";
import type { Place, SchemaFile } from "./load.js";
import { childPointer, pointerParts, valueAt } from "./pointer.js";
import { resolveReference } from "./reference.js";
import { type Dialect, isAnnotation, isSchemaObject, mapSubschemas, type SchemaObject } from "./schema.js";

/** A bundled schema: `root`, and definitions by the place they came from (`#/$defs/money` or `_shared/money.json#/…`). */
export interface Bundle {
  readonly dialect: Dialect;
  readonly root: unknown;
  readonly definitions: ReadonlyMap<string, unknown>;
}

/** The key of the root itself, for references to `#`. */
export const rootKey = "#";

/** Gathers what a queue's file reaches. Expects every reference to resolve: the profile has looked. */
export function bundleSchema(source: {
  file: SchemaFile;
  files: ReadonlyMap<string, SchemaFile>;
  dialect: Dialect;
}): Bundle {
  const definitions = new Map<string, unknown>();
  const pending: Place[] = [];
  const keyOf = (target: Place) => definitionKey(target, source.file);

  function strip(schema: unknown, file: SchemaFile): unknown {
    if (!isSchemaObject(schema)) return schema;
    const kept = Object.entries(schema).filter(
      ([key]) => !isAnnotation(key) && key !== "$defs" && key !== "definitions",
    );
    const result: Record<string, unknown> = mapSubschemas(Object.fromEntries(kept), (sub) => strip(sub.schema, file));
    if (typeof result.$ref !== "string") return result;
    const { target } = resolveReference(result.$ref, file, source.files);
    // Codegen has refused such a file; a base of the gate may hold one, and then nothing is known of the value.
    if (target === undefined) return true;
    const key = keyOf(target);
    if (key !== rootKey && !definitions.has(key)) {
      definitions.set(key, undefined);
      pending.push(target);
    }
    result.$ref = definitionRef(key);
    return result;
  }

  const root = strip(source.file.json.value, source.file);
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    definitions.set(keyOf(next), strip(valueAt(next.file.json.value, next.pointer), next.file));
  }
  return { dialect: source.dialect, root, definitions };
}

// `#/$defs/money` -> `money`, `_shared/address.json#` -> `_shared/address.json`; whatever could be mistaken keeps its full form.
function definitionKey({ file, pointer }: Place, root: SchemaFile): string {
  if (file !== root) return pointer === "" ? file.path : `${file.path}#${pointer}`;
  const [holder, name, ...deeper] = pointerParts(pointer);
  const plain = (holder === "$defs" || holder === "definitions") && deeper.length === 0 && name !== undefined;
  return plain && /^[\w-]+$/.test(name) ? name : `#${pointer}`;
}

/** The local reference to a definition of a bundle. */
export function definitionRef(key: string): string {
  return key === rootKey ? "#" : `#${encodeURI(childPointer("/$defs", key)).replaceAll("#", "%23")}`;
}

/** The bundle as one JSON Schema document. */
export function bundleDocument(bundle: Bundle): unknown {
  if (!isSchemaObject(bundle.root) || bundle.definitions.size === 0) return bundle.root;
  return { ...bundle.root, $defs: Object.fromEntries(bundle.definitions) } satisfies SchemaObject;
}

/** SHA-256 of the canonical form: keys sorted, so that reordering a file changes nothing. */
export function schemaHash(document: unknown): string {
  return createHash("sha256").update(canonicalJson(document)).digest("hex");
}

/** JSON with sorted keys and no spaces. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson((value as SchemaObject)[key])}`).join(",")}}`;
}
