/** The array keywords of one schema, both dialects. */
import type { Place } from "../load.js";
import { childPointer } from "../pointer.js";
import type { SchemaObject } from "../schema.js";
import type { Normaliser } from "./normaliser.js";
import { type ArrayShape, neverShape, type Shape, unknownShape } from "./shape.js";

/** `prefixItems`, `items`, `additionalItems`, `minItems` and `maxItems` of a schema. */
export function arrayShape(schema: SchemaObject, place: Place, normaliser: Normaliser): Shape {
  // Draft-07 writes a tuple as a list in `items` and its rest as `additionalItems`.
  const [prefixKey, restKey] = Array.isArray(schema.items) ? ["items", "additionalItems"] : ["prefixItems", "items"];
  const prefixAt = childPointer(place.pointer, prefixKey);
  const list = schema[prefixKey];
  const prefix = Array.isArray(list)
    ? list.map((_, index) => normaliser.whole({ file: place.file, pointer: childPointer(prefixAt, index) }))
    : [];
  return bounded({
    prefix,
    rest: restItems(schema, place, restKey, normaliser),
    min: typeof schema.minItems === "number" ? schema.minItems : 0,
    ...(typeof schema.maxItems === "number" ? { max: schema.maxItems } : {}),
  });
}

function restItems(schema: SchemaObject, place: Place, key: string, normaliser: Normaliser): Shape {
  if (schema[key] === false) return neverShape;
  if (schema[key] === undefined || schema[key] === true) return unknownShape;
  return normaliser.whole({ file: place.file, pointer: childPointer(place.pointer, key) });
}

// Nothing after the prefix is the same as an upper bound on the length.
function bounded(array: Omit<ArrayShape, "kind">): Shape {
  const max = array.rest.kind === "never" ? Math.min(array.prefix.length, array.max ?? Infinity) : array.max;
  if (max !== undefined && array.min > max) return neverShape;
  return { kind: "array", ...array, ...(max === undefined ? {} : { max }) };
}
