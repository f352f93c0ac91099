/**
 * A schema that refers back to itself for the very same value means nothing and would validate for ever. Recursion is fine
 * as soon as a property or an item lies between.
 */
import type { Place, SchemaFile } from "./load.js";
import { valueAt } from "./pointer.js";
import { resolveReference } from "./reference.js";
import type { Report } from "./report.js";
import { isSchemaObject, subschemas } from "./schema.js";

/** Reports every reference that closes such a circle. */
export function checkReferenceCycles(files: ReadonlyMap<string, SchemaFile>, report: Report): void {
  const done = new Set<string>();
  for (const file of files.values()) {
    if (file.role === "settings") continue;
    for (const pointer of schemaPointers(file.json.value)) walk({ file, pointer }, [], { files, report, done });
  }
}

// Every schema of a file is a place to start from; a walk itself never enters a property or an item.
function* schemaPointers(schema: unknown, pointer = ""): Generator<string> {
  if (!isSchemaObject(schema)) return;
  yield pointer;
  for (const sub of subschemas(schema, pointer)) yield* schemaPointers(sub.schema, sub.pointer);
}

interface Walk {
  readonly files: ReadonlyMap<string, SchemaFile>;
  readonly report: Report;
  readonly done: Set<string>;
}

// `path` holds the schemas around this one that speak of the same value.
function walk(place: Place, path: readonly string[], of: Walk): void {
  const key = `${place.file.path}#${place.pointer}`;
  if (of.done.has(key)) return;
  const schema = valueAt(place.file.json.value, place.pointer);
  if (!isSchemaObject(schema)) return;
  const next = [...path, key];
  if (typeof schema.$ref === "string") {
    const { target } = resolveReference(schema.$ref, place.file, of.files);
    const targetKey = target === undefined ? "" : `${target.file.path}#${target.pointer}`;
    if (next.includes(targetKey)) {
      const at = { file: place.file, pointer: `${place.pointer}/$ref` };
      of.report.add(at, {
        rule: "ref-cycle",
        message: "this $ref leads back to itself without an object or array between",
      });
    } else if (target !== undefined) walk(target, next, of);
  }
  for (const sub of subschemas(schema, place.pointer)) {
    const same = sub.role === "same" || sub.keyword === "if" || sub.keyword === "not";
    if (same) walk({ file: place.file, pointer: sub.pointer }, next, of);
  }
  of.done.add(key);
}
