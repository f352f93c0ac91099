/**
 * What values a schema accepts, as far as TypeScript can say it. The normaliser turns schemas into shapes, where `allOf` is
 * folded, conditions are unions and every dialect looks the same; the type emitter writes shapes down.
 */
import type { Place } from "../load.js";

/** A JSON scalar type; `integer` is no TypeScript type, so it is `number` here. */
export type ScalarType = "string" | "number" | "boolean" | "null";

/** A JSON scalar. */
export type ScalarValue = string | number | boolean | null;

/** One property of an object. */
export interface Property {
  readonly shape: Shape;
  readonly required: boolean;
  /** False while only a `required` list has named it. */
  readonly declared: boolean;
  /** Where its name stands; absent for what the normaliser derived from a map. */
  readonly place?: Place;
  readonly description?: string;
  readonly deprecated?: boolean;
}

/**
 * Keys that are not declared. `silent`: nothing was said yet (a part of a composition). `sealed`: nothing was said at all:
 * refused at publish, ignored at delivery. `closed`: `additionalProperties: false`. A shape: a map.
 */
export type Rest = "silent" | "sealed" | "closed" | Shape;

/** `patternProperties`: keys that match have this shape. */
export interface PatternShape {
  readonly source: string;
  readonly shape: Shape;
}

export interface ObjectShape {
  readonly kind: "object";
  readonly properties: ReadonlyMap<string, Property>;
  readonly rest: Rest;
  readonly patterns: readonly PatternShape[];
  /** `propertyNames` with a list: no other key. */
  readonly names?: ReadonlySet<string>;
  readonly place: Place;
}

export interface ArrayShape {
  readonly kind: "array";
  readonly prefix: readonly Shape[];
  /** What follows the prefix; `never` = nothing may. */
  readonly rest: Shape;
  readonly min: number;
  readonly max?: number;
}

/** A definition that is written once and used by name. */
export interface NamedShape {
  readonly place: Place;
  /** Of the finished definition; set when it has been built, because definitions may refer to each other. */
  shape?: Shape;
}

/** The set of values a schema accepts. */
export type Shape =
  | { readonly kind: "unknown" }
  | { readonly kind: "never" }
  | { readonly kind: "scalar"; readonly type: ScalarType }
  | { readonly kind: "literal"; readonly value: ScalarValue }
  | ArrayShape
  | ObjectShape
  | { readonly kind: "union"; readonly members: readonly Shape[] }
  | { readonly kind: "ref"; readonly target: NamedShape };

export const unknownShape: Shape = Object.freeze({ kind: "unknown" });
export const neverShape: Shape = Object.freeze({ kind: "never" });

/** A scalar type as a shape. */
export function scalarShape(type: ScalarType): Shape {
  return { kind: "scalar", type };
}

/** The members of a union, or the shape itself. */
export function membersOf(shape: Shape): readonly Shape[] {
  return shape.kind === "union" ? shape.members : [shape];
}

/** The scalar values of a shape, where they can be listed. */
export function literalsOf(shape: Shape): readonly ScalarValue[] | undefined {
  if (shape.kind === "literal") return [shape.value];
  if (shape.kind === "scalar" && shape.type === "boolean") return [true, false];
  if (shape.kind === "scalar" && shape.type === "null") return [null];
  if (shape.kind !== "union") return undefined;
  const lists = shape.members.map(literalsOf);
  return lists.every((list) => list !== undefined) ? lists.flat() : undefined;
}

/** The type of a scalar value. */
export function scalarTypeOf(value: ScalarValue): ScalarType {
  return value === null ? "null" : (typeof value as ScalarType);
}

/** A JSON value as the shape that holds just it. */
export function shapeOfValue(value: unknown, place: Place): Shape {
  if (Array.isArray(value)) {
    const prefix = value.map((item) => shapeOfValue(item, place));
    return { kind: "array", prefix, rest: neverShape, min: prefix.length, max: prefix.length };
  }
  if (typeof value !== "object" || value === null) return { kind: "literal", value: value as ScalarValue };
  const properties = new Map(
    Object.entries(value).map(([key, member]) => [
      key,
      { shape: shapeOfValue(member, place), required: true, declared: true },
    ]),
  );
  return { kind: "object", properties, rest: "closed", patterns: [], place };
}
