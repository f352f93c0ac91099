/** Random schemas from a grammar of everything the profile accepts. */
import fc from "fast-check";

/** A random schema, with its definitions, in one of the two dialects. */
export interface RandomSchema {
  readonly schema: Record<string, unknown>;
  readonly dialect: "2020-12" | "draft-07";
}

type Schema = Record<string, unknown>;

const names = ["a", "b", "c", "d"] as const;
const words = ["red", "green", "blue", "x"] as const;

const scalar: fc.Arbitrary<Schema> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Schema>({ type: "string" }, { type: "boolean" }, { type: "null" }) },
  fc.record({ type: fc.constant("string"), minLength: fc.nat(2), maxLength: fc.integer({ min: 2, max: 5 }) }),
  fc.record({
    type: fc.constant("string"),
    pattern: fc.constantFrom("^[a-z]+$", "^r", "e"),
    maxLength: fc.constant(9),
  }),
  fc.record({ type: fc.constant("string"), format: fc.constantFrom("date", "date-time", "uuid", "email", "uri") }),
  fc.record({
    type: fc.constantFrom("integer", "number"),
    minimum: fc.nat(2),
    maximum: fc.integer({ min: 2, max: 9 }),
  }),
  fc.record(
    {
      type: fc.constantFrom("integer", "number"),
      exclusiveMinimum: fc.nat(2),
      exclusiveMaximum: fc.integer({ min: 4, max: 9 }),
      multipleOf: fc.constantFrom(1, 2, 0.5),
    },
    { requiredKeys: ["type"] },
  ),
  fc.record({
    enum: fc.uniqueArray(fc.constantFrom<unknown>(...words, 1, 2, null, true), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ const: fc.constantFrom<unknown>("red", 1, null, true, { k: 1 }, [1, "x"]) }),
  fc.record({
    type: fc.uniqueArray(fc.constantFrom("string", "integer", "null", "boolean"), { minLength: 2, maxLength: 3 }),
  }),
  fc.record({
    type: fc.constant("string"),
    not: fc.oneof(fc.record({ const: fc.constantFrom(...words) }), fc.constant({ minLength: 4 })),
  }),
  fc.record({ enum: fc.constant([...words]), not: fc.record({ enum: fc.constant(["red", "x"]) }) }),
);

// fast-check types `letrec` by a type that has an index signature; an interface has none.
type Levels = Record<"value" | "object" | "array" | "union" | "composed", Schema>;

const grammar = fc.letrec<Levels>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: "value" },
    { weight: 6, arbitrary: scalar },
    { weight: 4, arbitrary: tie("object") },
    { weight: 3, arbitrary: tie("array") },
    { weight: 3, arbitrary: tie("union") },
    { weight: 3, arbitrary: tie("composed") },
    {
      weight: 2,
      arbitrary: fc.constantFrom<Schema>(
        { $ref: "#/$defs/leaf" },
        { $ref: "#/$defs/tree" },
        { $ref: "_shared/part.json" },
      ),
    },
    { weight: 1, arbitrary: fc.constant<Schema>({}) },
  ),
  object: fc.oneof(
    { weight: 6, arbitrary: plainObject(tie("value")) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("object"), additionalProperties: tie("value") }) },
    { weight: 1, arbitrary: mapObject(tie("value")) },
    { weight: 1, arbitrary: patternObject(tie("value")) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Schema>({ type: "object" }, { type: "object", additionalProperties: false }),
    },
  ),
  array: fc.oneof(
    fc.record(
      {
        type: fc.constant("array"),
        items: fc.oneof({ weight: 6, arbitrary: tie("value") }, { weight: 1, arbitrary: fc.constant<Schema>({}) }),
        minItems: fc.nat(2),
        maxItems: fc.integer({ min: 2, max: 4 }),
        uniqueItems: fc.boolean(),
      },
      { requiredKeys: ["type"] },
    ),
    fc.record(
      {
        type: fc.constant("array"),
        prefixItems: fc.array(tie("value"), { minLength: 1, maxLength: 2 }),
        items: fc.oneof(fc.constant<unknown>(false), tie("value")),
        minItems: fc.nat(2),
      },
      { requiredKeys: ["type", "prefixItems"] },
    ),
    fc.record(
      {
        type: fc.constant("array"),
        contains: scalar,
        minContains: fc.constant(1),
        maxContains: fc.constant(2),
      },
      { requiredKeys: ["type", "contains"] },
    ),
  ),
  union: fc.oneof(
    fc.record({ anyOf: fc.array(fc.oneof(scalar, tie("array")), { minLength: 1, maxLength: 3 }) }),
    variants(tie("value"), "oneOf"),
    variants(tie("value"), "anyOf"),
    fc
      .tuple(tie("object"), fc.constantFrom("oneOf", "anyOf"))
      .map(([object, keyword]) => ({ [keyword]: [object, { type: "null" }] })),
    fc.record({ oneOf: fc.constant([{ $ref: "#/$defs/leaf" }, { type: "null" }]) }),
  ),
  composed: fc.oneof(
    conditionals(tie("value")),
    dependents(tie("value")),
    fc.tuple(tie("value"), tie("value"), fc.boolean()).map(([left, right, closed]) => ({
      allOf: [
        { type: "object", properties: { a: left }, required: ["a"] },
        { type: "object", properties: { b: right } },
      ],
      ...(closed ? { unevaluatedProperties: false } : {}),
    })),
    fc.record({
      type: fc.constant("object"),
      properties: fc.record({ a: tie("value") }),
      unevaluatedProperties: fc.oneof(fc.constant<unknown>(false), scalar),
    }),
    fc.record({ allOf: fc.tuple(fc.constant({ $ref: "#/$defs/leaf" })), description: fc.constant("beside a $ref") }),
    fc.constant<Schema>({
      type: "object",
      allOf: [{ $ref: "#/$defs/leaf" }],
      properties: { more: { type: "string" } },
    }),
    fc.record({
      type: fc.constant("object"),
      properties: fc.record({ a: tie("value"), b: tie("value") }),
      anyOf: fc.constant([{ required: ["a"] }, { required: ["b"] }]),
    }),
  ),
}));

function plainObject(value: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc
    .record({
      properties: fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
      required: fc.subarray([...names]),
      closed: fc.constantFrom("silent", "closed", "open"),
      bounds: fc.constantFrom<Schema>({}, {}, {}, { minProperties: 1 }, { maxProperties: 3 }),
    })
    .map(({ properties, required, closed, bounds }) => ({
      type: "object",
      properties,
      required: required.filter((name) => name in properties),
      ...(closed === "silent" ? {} : { additionalProperties: closed === "open" }),
      ...bounds,
    }));
}

function mapObject(value: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc.record({
    type: fc.constant("object"),
    propertyNames: fc.constantFrom<Schema>(
      { enum: ["a", "b"] },
      { type: "string", maxLength: 2 },
      { type: "string", pattern: "^[a-c]" },
    ),
    additionalProperties: value,
  });
}

function patternObject(value: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc.record(
    {
      type: fc.constant("object"),
      patternProperties: fc.record({ "^x_": value }),
      properties: fc.record({ a: value }),
      additionalProperties: fc.constant(false),
    },
    { requiredKeys: ["type", "patternProperties"] },
  );
}

function variants(value: fc.Arbitrary<Schema>, keyword: "oneOf" | "anyOf"): fc.Arbitrary<Schema> {
  const branch = (kind: string) =>
    fc.tuple(value, fc.boolean(), fc.boolean()).map(([own, closed, required]) => ({
      type: "object",
      properties: { kind: { const: kind }, [`of_${kind}`]: own },
      required: ["kind", ...(required ? [`of_${kind}`] : [])],
      ...(closed ? { additionalProperties: false } : {}),
    }));
  return fc.tuple(branch("p"), branch("q")).map((branches) => ({ [keyword]: branches }));
}

function conditionals(value: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc
    .record({
      a: value,
      required: fc.subarray(["kind"]),
      test: fc.constantFrom<Schema>({ const: "red" }, { enum: ["red", "blue"] }),
      asks: fc.subarray(["kind"]),
      outcome: fc.constantFrom("then", "else", "both"),
      wrapped: fc.boolean(),
    })
    .map(({ a, required, test, asks, outcome, wrapped }) => {
      const condition = {
        if: { properties: { kind: test }, ...(asks.length > 0 ? { required: asks } : {}) },
        // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
        ...(outcome === "else" ? {} : { then: { required: ["a"] } }),
        ...(outcome === "then" ? {} : { else: { required: ["b"] } }),
      };
      return {
        type: "object",
        properties: { kind: { enum: [...words] }, a, b: { type: "integer" } },
        required,
        ...(wrapped ? { allOf: [condition] } : condition),
      };
    });
}

function dependents(value: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc.tuple(value, fc.boolean(), fc.boolean()).map(([a, closed, schemas]) => ({
    type: "object",
    properties: { a, b: { type: "string" }, c: { type: "integer" } },
    ...(schemas ? { dependentSchemas: { a: { required: ["b"] } } } : { dependentRequired: { a: ["b"], c: ["b"] } }),
    ...(closed ? { additionalProperties: false } : {}),
  }));
}

/** What every random schema may refer to. */
export const sharedPart = {
  description: "A shared definition.",
  type: "object",
  properties: { unit: { enum: ["mm", "kg"] }, amount: { type: "number", minimum: 0 } },
  required: ["amount"],
};

const definitions = {
  leaf: { type: "object", properties: { id: { type: "integer" }, note: { type: "string" } }, required: ["id"] },
  tree: {
    type: "object",
    properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/tree" } } },
    required: ["name"],
    additionalProperties: false,
  },
};

/** A message's schema: now and then a scalar or an array, mostly objects. */
export const randomSchema: fc.Arbitrary<RandomSchema> = fc
  .tuple(
    fc.oneof(
      { weight: 6, arbitrary: grammar.object },
      { weight: 3, arbitrary: grammar.composed },
      { weight: 2, arbitrary: grammar.union },
      { weight: 1, arbitrary: grammar.array },
    ),
    fc.integer({ min: 0, max: 5 }),
  )
  .map(([schema, dice]) => {
    const dialect = dice === 0 ? ("draft-07" as const) : ("2020-12" as const);
    const whole = { ...schema, $defs: definitions };
    return { schema: dialect === "draft-07" ? (asDraft07(whole) as Schema) : whole, dialect };
  });

// Draft-07's spelling of the same thing, where it has one.
function asDraft07(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asDraft07);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema as Schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === "$ref" && typeof value === "string") {
      return [[key, value.replace("#/$defs/", "#/definitions/").replace("part.json", "part-07.json")]];
    }
    if (key === "$defs") return [["definitions", asDraft07(value)]];
    if (key === "prefixItems") return [["items", asDraft07(value)]];
    if (key === "items" && "prefixItems" in schema) return [["additionalItems", asDraft07(value)]];
    if (key === "dependentRequired" || key === "dependentSchemas") return [["dependencies", asDraft07(value)]];
    if (["unevaluatedProperties", "minContains", "maxContains"].includes(key)) return [];
    return [[key, key === "const" || key === "enum" ? value : asDraft07(value)]];
  });
  return Object.fromEntries(entries);
}
