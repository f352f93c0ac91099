/** From a place in a message to the place in its schema file. */
import type { Place, SchemaFile } from "../load.js";
import { childPointer, pointerParts, valueAt } from "../pointer.js";
import { isSchemaObject } from "../schema.js";

/** The deepest declaration in the queue's own file that a message pointer leads to. */
export function placeOfMessagePointer(file: SchemaFile, pointer: string): Place {
  let at = "";
  for (const part of pointerParts(pointer)) {
    const next = step(file, at, part);
    if (next === undefined) break;
    at = next;
  }
  return { file, pointer: at };
}

function step(file: SchemaFile, at: string, part: string, depth = 0): string | undefined {
  const schema = valueAt(file.json.value, at);
  if (!isSchemaObject(schema) || depth > 8) return undefined;
  if (isSchemaObject(schema.properties) && Object.hasOwn(schema.properties, part)) {
    return childPointer(childPointer(at, "properties"), part);
  }
  if (/^\d+$/.test(part) && isSchemaObject(schema.items)) return childPointer(at, "items");
  if (typeof schema.$ref === "string" && schema.$ref.startsWith("#")) {
    return step(file, decodeURIComponent(schema.$ref.slice(1)), part, depth + 1);
  }
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const list = Array.isArray(schema[keyword]) ? schema[keyword] : [];
    for (const index of list.keys()) {
      const found = step(file, childPointer(childPointer(at, keyword), index), part, depth + 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
