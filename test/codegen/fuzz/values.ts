/** Values near the border of a schema: mostly valid ones, and one step away from them. */
import { valueAt } from "../../../codegen/pointer.js";
import { isSchemaObject, type SchemaObject } from "../../../codegen/schema.js";

/** A seeded source of choices. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  below(limit: number): number {
    // xorshift32: the same values on every machine.
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
}

const odd: readonly unknown[] = ["red", "zz", "", 0, 1, 3, 2.5, -1, null, true, [], {}, [1], { id: 1 }, "2026-01-02"];
const strings = [
  "red",
  "green",
  "e",
  "abcde",
  "x",
  "2026-01-02",
  "2026-01-02T00:00:00Z",
  "a@example.org",
  "https://a.example/",
];
const uuid = "123e4567-e89b-42d3-a456-426614174000";

/** A number of values for a schema. `files` resolves references into other files. */
export function valuesNear(schema: unknown, dice: Dice, files: ReadonlyMap<string, unknown>, count: number): unknown[] {
  const values = new Map<string, unknown>();
  for (let index = 0; index < count; index += 1) {
    const value = build(schema, { root: schema, dice, files, depth: 0 });
    const kept = index % 2 === 0 ? value : mutated(value, dice);
    values.set(JSON.stringify(kept), kept);
  }
  return [...values.values()];
}

interface Scope {
  readonly root: unknown;
  readonly dice: Dice;
  readonly files: ReadonlyMap<string, unknown>;
  readonly depth: number;
}

function build(schema: unknown, scope: Scope): unknown {
  const { dice } = scope;
  if (!isSchemaObject(schema) || scope.depth > 7) return dice.pick(odd);
  if (typeof schema.$ref === "string") {
    const [path = "", pointer = ""] = schema.$ref.split("#");
    const root = path === "" ? scope.root : scope.files.get(path);
    const { $ref: _, ...beside } = schema;
    return merged(build(valueAt(root, pointer), { ...scope, root, depth: scope.depth + 1 }), beside, scope);
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = schema[keyword];
    if (!Array.isArray(branches)) continue;
    const { [keyword]: _, ...rest } = schema;
    return merged(build({ ...rest, ...flattened(dice.pick(branches), rest) }, deeper(scope)), {}, scope);
  }
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...rest } = schema;
    const parts = allOf.map((part) => build(flattened(part, rest), deeper(scope)));
    const own = Object.keys(rest).some((key) => ["type", "properties"].includes(key))
      ? [build(rest, deeper(scope))]
      : [];
    const objects = [...parts, ...own].filter(isSchemaObject);
    return objects.length > 0 ? Object.assign({}, ...objects) : parts[0];
  }
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return dice.pick(schema.enum);
  const type = Array.isArray(schema.type) ? dice.pick(schema.type) : schema.type;
  return typed(String(type), schema, deeper(scope));
}

function deeper(scope: Scope): Scope {
  return { ...scope, depth: scope.depth + 1 };
}

// A branch without a type of its own speaks of its parent's value.
function flattened(branch: unknown, parent: SchemaObject): SchemaObject {
  if (!isSchemaObject(branch)) return {};
  const both = (key: "required") => [
    ...((parent[key] as string[] | undefined) ?? []),
    ...((branch[key] as string[] | undefined) ?? []),
  ];
  const required = both("required");
  return {
    ...branch,
    ...(required.length > 0 ? { required } : {}),
    ...("type" in branch || !("type" in parent) ? {} : { type: parent.type }),
  };
}

function merged(value: unknown, beside: SchemaObject, scope: Scope): unknown {
  if (!isSchemaObject(value) || !isSchemaObject(beside.properties)) return value;
  return { ...value, ...(build({ type: "object", properties: beside.properties }, deeper(scope)) as object) };
}

function typed(type: string, schema: SchemaObject, scope: Scope): unknown {
  const { dice } = scope;
  if (type === "string") return stringFor(schema, dice);
  if (type === "integer" || type === "number") return dice.pick([0, 1, 2, 3, 4, 5, 8, type === "number" ? 2.5 : 6]);
  if (type === "boolean") return dice.below(2) === 0;
  if (type === "null") return null;
  if (type === "array") return arrayFor(schema, scope);
  return type === "object" ? objectFor(schema, scope) : dice.pick(odd);
}

function stringFor(schema: SchemaObject, dice: Dice): string {
  const byFormat: Record<string, string> = {
    date: "2026-01-02",
    "date-time": "2026-01-02T00:00:00Z",
    uuid,
    email: "a@example.org",
    uri: "https://a.example/",
  };
  return typeof schema.format === "string" ? (byFormat[schema.format] ?? "") : dice.pick(strings);
}

function arrayFor(schema: SchemaObject, scope: Scope): unknown[] {
  const list = Array.isArray(schema.items) ? schema.items : Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  const least = typeof schema.minItems === "number" ? schema.minItems : 0;
  const length = Math.max(least, scope.dice.below(4)) + (list.length > 0 ? scope.dice.below(2) : 0);
  const items = Array.from({ length }, (_, index) => build(list[index] ?? rest ?? {}, scope));
  if (schema.contains !== undefined && scope.dice.below(4) > 0) items.push(build(schema.contains, scope));
  return items;
}

function objectFor(schema: SchemaObject, scope: Scope): Record<string, unknown> {
  const { dice } = scope;
  const properties = isSchemaObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  const object: Record<string, unknown> = {};
  for (const [key, own] of Object.entries(properties)) {
    if (required.includes(key) || dice.below(3) > 0) object[key] = build(own, scope);
  }
  const rest = schema.additionalProperties ?? schema.unevaluatedProperties;
  if (isSchemaObject(rest) && dice.below(3) > 0) object[dice.pick(["a", "b", "k", "extra"])] ??= build(rest, scope);
  if (isSchemaObject(schema.patternProperties) && dice.below(3) > 0) {
    object.x_1 = build(Object.values(schema.patternProperties)[0], scope);
  }
  return object;
}

function mutated(value: unknown, dice: Dice): unknown {
  if (typeof value !== "object" || value === null || dice.below(5) === 0) return dice.pick(odd);
  if (Array.isArray(value)) {
    if (dice.below(2) === 0 || value.length === 0)
      return dice.below(2) === 0 ? value.slice(1) : [...value, dice.pick(odd)];
    const at = dice.below(value.length);
    return value.map((item, index) => (index === at ? mutated(item, dice) : item));
  }
  const keys = Object.keys(value);
  const key = keys.length === 0 ? undefined : dice.pick(keys);
  const choice = dice.below(4);
  if (key === undefined || choice === 0)
    return { ...value, [dice.pick(["extra", "a", "b", "c", "kind", "of_q", "x_2"])]: dice.pick(odd) };
  if (choice === 1) return Object.fromEntries(Object.entries(value).filter(([other]) => other !== key));
  return { ...value, [key]: mutated((value as Record<string, unknown>)[key], dice) };
}
