/** The object keywords of one schema. */
import type { Place } from "../load.js";
import { childPointer, valueAt } from "../pointer.js";
import { isSchemaObject, type SchemaObject } from "../schema.js";
import type { Normaliser } from "./normaliser.js";
import { type ObjectShape, type PatternShape, type Property, type Rest, type Shape, unknownShape } from "./shape.js";
import { unite } from "./unite.js";

/** `properties`, `required`, `additionalProperties`, `patternProperties` and `propertyNames` of a schema. */
export function objectShape(schema: SchemaObject, place: Place, normaliser: Normaliser): ObjectShape {
  const patterns = patternShapes(schema, place, normaliser);
  const names = nameList(schema.propertyNames);
  return {
    kind: "object",
    properties: propertyMap({ schema, place, normaliser, patterns }),
    rest: restOf(schema, place, normaliser),
    patterns,
    ...(names === undefined ? {} : { names }),
    place,
  };
}

function propertyMap(of: {
  schema: SchemaObject;
  place: Place;
  normaliser: Normaliser;
  patterns: readonly PatternShape[];
}): Map<string, Property> {
  const { schema, place, normaliser } = of;
  const required = new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
  const properties = new Map<string, Property>();
  const at = childPointer(place.pointer, "properties");
  for (const key of Object.keys(isSchemaObject(schema.properties) ? schema.properties : {})) {
    const child = { file: place.file, pointer: childPointer(at, key) };
    let shape = normaliser.whole(child);
    for (const pattern of of.patterns) {
      if (new RegExp(pattern.source, "u").test(key)) shape = normaliser.both(shape, pattern.shape, child);
    }
    properties.set(key, {
      shape,
      required: required.delete(key),
      declared: true,
      place: child,
      ...documentation(child),
    });
  }
  for (const key of required) {
    properties.set(key, { shape: unknownShape, required: true, declared: false, place });
  }
  return properties;
}

function documentation(place: Place): Pick<Property, "description" | "deprecated"> {
  const schema = valueAt(place.file.json.value, place.pointer);
  if (!isSchemaObject(schema)) return {};
  return {
    ...(typeof schema.description === "string" ? { description: schema.description } : {}),
    ...(schema.deprecated === true ? { deprecated: true } : {}),
  };
}

function restOf(schema: SchemaObject, place: Place, normaliser: Normaliser): Rest {
  const additional = schema.additionalProperties;
  if (additional === false) return "closed";
  if (additional !== undefined) return normaliser.whole(child(place, "additionalProperties"));
  // A pattern describes some keys of a map; the others may hold anything.
  return schema.patternProperties === undefined ? "silent" : unknownShape;
}

function patternShapes(schema: SchemaObject, place: Place, normaliser: Normaliser): PatternShape[] {
  if (!isSchemaObject(schema.patternProperties)) return [];
  const at = child(place, "patternProperties");
  return Object.keys(schema.patternProperties).map((source) => ({
    source,
    shape: normaliser.whole(child(at, source)),
  }));
}

function nameList(names: unknown): ReadonlySet<string> | undefined {
  if (!isSchemaObject(names)) return undefined;
  const list = Array.isArray(names.enum) ? names.enum : "const" in names ? [names.const] : undefined;
  return list === undefined ? undefined : new Set(list.filter((name): name is string => typeof name === "string"));
}

/** `unevaluatedProperties`, which speaks of everything that the whole composition has not named. */
export function closeUnevaluated(of: {
  shape: Shape;
  schema: SchemaObject;
  place: Place;
  normaliser: Normaliser;
}): Shape {
  const { shape, schema, place, normaliser } = of;
  if (schema.unevaluatedProperties === undefined) return shape;
  const rest: Rest =
    schema.unevaluatedProperties === false ? "closed" : normaliser.whole(child(place, "unevaluatedProperties"));
  const close = (member: Shape): Shape =>
    member.kind === "object" && member.rest === "silent" ? { ...member, rest } : member;
  return shape.kind === "union" ? unite(shape.members.map(close)) : close(shape);
}

function child(place: Place, key: string): Place {
  return { file: place.file, pointer: childPointer(place.pointer, key) };
}
