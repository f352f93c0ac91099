/** A schema without what no TypeScript type can say: what is left, a type must get right. */
import { isSchemaObject, mapSubschemas, type SchemaObject } from "../../../codegen/schema.js";

const inexpressible = new Set([
  ...["multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern"],
  ...["format", "uniqueItems", "contains", "minContains", "maxContains", "maxProperties", "minProperties", "not"],
]);

/** The expressible part of a schema. */
export function erased(schema: unknown): unknown {
  if (!isSchemaObject(schema)) return schema;
  const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => !inexpressible.has(key)));
  const result: Record<string, unknown> = mapSubschemas(kept, (sub) =>
    sub.role === "test" ? sub.schema : erased(sub.schema),
  );
  result.type = withoutInteger(schema.type);
  if (result.type === undefined) delete result.type;
  // Overlaps of scalar ranges are no type's business; those of objects are refused.
  if (Array.isArray(result.oneOf)) {
    result.allOf = [...((result.allOf as unknown[] | undefined) ?? []), { anyOf: result.oneOf }];
    delete result.oneOf;
  }
  if (isSchemaObject(schema.propertyNames) && !("enum" in schema.propertyNames)) delete result.propertyNames;
  return withoutPatterns(result);
}

// An index signature also speaks of the named properties, and of every key alike.
function withoutPatterns(schema: Record<string, unknown>): SchemaObject {
  const { patternProperties, additionalProperties, unevaluatedProperties } = schema;
  const rest = additionalProperties ?? unevaluatedProperties;
  const patterns = isSchemaObject(patternProperties) ? Object.values(patternProperties) : [];
  if (patterns.length === 0 && !isSchemaObject(rest)) return schema;
  delete schema.patternProperties;
  delete schema.unevaluatedProperties;
  const named = isSchemaObject(schema.properties) ? Object.values(schema.properties) : [];
  const others =
    patterns.length > 0 && rest === undefined ? [true] : rest === false || rest === undefined ? [] : [rest];
  schema.additionalProperties = { anyOf: [...patterns, ...named, ...others] };
  return schema;
}

function withoutInteger(type: unknown): unknown {
  const one = (name: unknown) => (name === "integer" ? "number" : name);
  return Array.isArray(type) ? [...new Set(type.map(one))] : one(type);
}
