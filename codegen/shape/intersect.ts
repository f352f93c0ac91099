/** Intersections of shapes: `allOf`, keywords beside `$ref`, a parent and its branches. */
import type { Finding } from "../report.js";
import {
  type ArrayShape,
  neverShape,
  type ObjectShape,
  type PatternShape,
  type Property,
  type Rest,
  type Shape,
  scalarTypeOf,
  unknownShape,
} from "./shape.js";
import { unite } from "./unite.js";

/** What an intersection needs: to follow references, and to say what cannot be combined. */
export interface IntersectContext {
  expand(shape: Shape): Shape;
  report(finding: Finding): void;
}

const maxDepth = 24;

/** The values that fit both. */
export function intersect(a: Shape, b: Shape, context: IntersectContext, depth = 0): Shape {
  const next = (x: Shape, y: Shape) => intersect(x, y, context, depth + 1);
  if (a.kind === "unknown" || a === b) return b;
  if (b.kind === "unknown") return a;
  if (a.kind === "never" || b.kind === "never") return neverShape;
  if (a.kind === "ref" && b.kind === "ref" && a.target === b.target) return a;
  if (depth > maxDepth) {
    context.report({ rule: "allof-recursive", message: "this combination of recursive schemas never ends" });
    return neverShape;
  }
  if (a.kind === "union") return unite(a.members.map((member) => next(member, b)));
  if (b.kind === "union") return unite(b.members.map((member) => next(a, member)));
  if (a.kind === "ref") return next(context.expand(a), b);
  if (b.kind === "ref") return next(a, context.expand(b));
  if (a.kind === "object" && b.kind === "object") return intersectObjects(a, b, context, next);
  if (a.kind === "array" && b.kind === "array") return intersectArrays(a, b, next);
  return intersectScalars(a, b);
}

function intersectScalars(a: Shape, b: Shape): Shape {
  if (a.kind === "literal" && b.kind === "literal") return a.value === b.value ? a : neverShape;
  if (a.kind === "literal" && b.kind === "scalar") return scalarTypeOf(a.value) === b.type ? a : neverShape;
  if (a.kind === "scalar" && b.kind === "literal") return intersectScalars(b, a);
  return a.kind === "scalar" && b.kind === "scalar" && a.type === b.type ? a : neverShape;
}

type Next = (x: Shape, y: Shape) => Shape;

function intersectArrays(a: ArrayShape, b: ArrayShape, next: Next): Shape {
  const length = Math.max(a.prefix.length, b.prefix.length);
  const prefix = Array.from({ length }, (_, at) => next(a.prefix[at] ?? a.rest, b.prefix[at] ?? b.rest));
  const max = Math.min(a.max ?? Infinity, b.max ?? Infinity);
  const bounds = { min: Math.max(a.min, b.min), ...(max === Infinity ? {} : { max }) };
  return bounds.min > max ? neverShape : { kind: "array", prefix, rest: next(a.rest, b.rest), ...bounds };
}

function intersectObjects(a: ObjectShape, b: ObjectShape, context: IntersectContext, next: Next): Shape {
  const properties = new Map<string, Property>();
  for (const key of new Set([...a.properties.keys(), ...b.properties.keys()])) {
    const mine = a.properties.get(key);
    const theirs = b.properties.get(key);
    if (mine !== undefined && theirs !== undefined) properties.set(key, joinProperties(mine, theirs, next));
    else if (mine !== undefined) properties.set(key, constrain({ key, property: mine, by: b, context, next }));
    else if (theirs !== undefined) properties.set(key, constrain({ key, property: theirs, by: a, context, next }));
  }
  const names = a.names === undefined ? b.names : b.names === undefined ? a.names : sharedNames(a.names, b.names);
  return {
    kind: "object",
    properties,
    rest: intersectRest(a.rest, b.rest, next),
    patterns: [...patternsUnder(a, b, next), ...patternsUnder(b, a, next)],
    ...(names === undefined ? {} : { names }),
    place: a.place,
  };
}

function sharedNames(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...a].filter((name) => b.has(name)));
}

function joinProperties(mine: Property, theirs: Property, next: Next): Property {
  const first = mine.declared ? mine : theirs;
  const description = mine.description ?? theirs.description;
  return {
    ...first,
    shape: next(mine.shape, theirs.shape),
    required: mine.required || theirs.required,
    declared: mine.declared || theirs.declared,
    ...(description === undefined ? {} : { description }),
  };
}

// What one side says of a key that only the other side names.
function constrain(of: {
  key: string;
  property: Property;
  by: ObjectShape;
  context: IntersectContext;
  next: Next;
}): Property {
  const { key, property, by, next } = of;
  const matching = by.patterns.filter((pattern) => matches(pattern, key));
  if (matching.length > 0) {
    return { ...property, shape: matching.reduce((shape, pattern) => next(shape, pattern.shape), property.shape) };
  }
  if (typeof by.rest !== "string") {
    return { ...property, declared: true, shape: next(property.shape, by.rest) };
  }
  if (by.rest !== "silent" && property.declared) of.context.report(closedFinding(key));
  return property;
}

function closedFinding(key: string): Finding {
  return {
    rule: "closed-member",
    message: `a closed part of this composition refuses ${JSON.stringify(key)}, which another part declares`,
    hint: 'leave "additionalProperties" out of the parts and put "unevaluatedProperties": false on the outer schema',
  };
}

function intersectRest(a: Rest, b: Rest, next: Next): Rest {
  if (a === "closed" || b === "closed") return "closed";
  if (a === "sealed" || b === "sealed") return "sealed";
  if (a === "silent") return b;
  return b === "silent" ? a : next(a, b);
}

// A pattern of one side, as far as the other side lets such keys through.
function patternsUnder(own: ObjectShape, other: ObjectShape, next: Next): PatternShape[] {
  if (own.patterns.length === 0) return [];
  if (typeof other.rest !== "string") {
    const { rest } = other;
    return own.patterns.map(({ source, shape }) => ({ source, shape: next(shape, rest) }));
  }
  return other.rest === "silent" || other.patterns.length > 0 ? [...own.patterns] : [];
}

/** Whether a key matches a pattern, as ajv reads it. */
export function matches(pattern: PatternShape, key: string): boolean {
  return new RegExp(pattern.source, "u").test(key);
}

/** Everything a rest lets through, as a shape. */
export function restShape(rest: Rest): Shape {
  if (typeof rest !== "string") return rest;
  return rest === "closed" || rest === "sealed" ? neverShape : unknownShape;
}
