/** Unions of shapes, and the questions asked about them. */
import {
  membersOf,
  neverShape,
  type ObjectShape,
  type Shape,
  scalarShape,
  scalarTypeOf,
  unknownShape,
} from "./shape.js";

/** Follows references to what they stand for. */
export type Expand = (shape: Shape) => Shape;

/** The union of shapes: flat, without repeats, without what another member already says. */
export function unite(shapes: readonly Shape[]): Shape {
  const members = new Map<string, Shape>();
  for (const given of shapes.flatMap(membersOf)) {
    const member = given.kind === "literal" && given.value === null ? scalarShape("null") : given;
    if (member.kind === "unknown") return unknownShape;
    if (member.kind !== "never") members.set(memberKey(member, members.size), member);
  }
  for (const [key, member] of members) {
    if (member.kind === "literal" && members.has(`scalar ${scalarTypeOf(member.value)}`)) members.delete(key);
  }
  if (members.has("literal true") && members.has("literal false")) {
    members.delete("literal true");
    members.delete("literal false");
    members.set("scalar boolean", scalarShape("boolean"));
  }
  const list = [...members.values()];
  if (list.length === 0) return neverShape;
  return list.length === 1 ? (list[0] as Shape) : { kind: "union", members: list };
}

function memberKey(shape: Shape, index: number): string {
  if (shape.kind === "scalar") return `scalar ${shape.type}`;
  if (shape.kind === "literal") return `literal ${JSON.stringify(shape.value)}`;
  if (shape.kind === "ref") return `ref ${shape.target.place.file.path}#${shape.target.place.pointer}`;
  return `member ${index}`;
}

/** Whether no value fits both. `false` also where it cannot be told. */
export function disjoint(a: Shape, b: Shape, expand: Expand, depth = 0): boolean {
  if (depth > 16) return false;
  const next = (x: Shape, y: Shape) => disjoint(x, y, expand, depth + 1);
  if (a.kind === "ref") return next(expand(a), b);
  if (b.kind === "ref") return next(a, expand(b));
  if (a.kind === "never" || b.kind === "never") return true;
  if (a.kind === "unknown" || b.kind === "unknown") return false;
  if (a.kind === "union") return a.members.every((member) => next(member, b));
  if (b.kind === "union") return b.members.every((member) => next(a, member));
  if (a.kind === "object" && b.kind === "object") return objectsDisjoint(a, b, next);
  if (a.kind === "array" && b.kind === "array") {
    if ((a.max ?? Infinity) < b.min || (b.max ?? Infinity) < a.min) return true;
    const shared = Math.min(a.min, b.min);
    return Array.from({ length: shared }, (_, at) => at).some((at) =>
      next(a.prefix[at] ?? a.rest, b.prefix[at] ?? b.rest),
    );
  }
  if (a.kind === "literal" && b.kind === "literal") return a.value !== b.value;
  return scalarKind(a) !== scalarKind(b);
}

function objectsDisjoint(a: ObjectShape, b: ObjectShape, next: (x: Shape, y: Shape) => boolean): boolean {
  for (const [key, property] of a.properties) {
    const other = b.properties.get(key);
    if (other === undefined || !(property.required || other.required)) continue;
    if (property.required && other.required && next(property.shape, other.shape)) return true;
    if (property.required ? other.shape.kind === "never" : property.shape.kind === "never") return true;
  }
  return false;
}

function scalarKind(shape: Shape): string {
  if (shape.kind === "scalar") return shape.type;
  return shape.kind === "literal" ? scalarTypeOf(shape.value) : shape.kind;
}

/**
 * Whether TypeScript tells two object types apart by a literal, as its excess-property check needs: a property required in
 * both whose values can be listed and differ.
 */
export function discriminated(
  a: ObjectShape,
  b: ObjectShape,
  literals: (shape: Shape) => readonly unknown[] | undefined,
) {
  for (const [key, property] of a.properties) {
    const other = b.properties.get(key);
    if (other === undefined || !property.required || !other.required) continue;
    const mine = literals(property.shape);
    const theirs = literals(other.shape);
    if (mine !== undefined && theirs !== undefined && !mine.some((value) => theirs.includes(value))) return true;
  }
  return false;
}

/** Whether two object types name the same keys and are no maps: then a literal that mixes them fits neither by accident. */
export function sameKeys(a: ObjectShape, b: ObjectShape): boolean {
  if (typeof a.rest !== "string" || typeof b.rest !== "string") return false;
  if (a.patterns.length + b.patterns.length > 0 || a.properties.size !== b.properties.size) return false;
  return [...a.properties.keys()].every((key) => b.properties.has(key));
}
