/** The end of a composition: what said nothing about other keys is sealed, and what can never be is refused. */
import type { Place } from "../load.js";
import { matches } from "./intersect.js";
import type { Normaliser } from "./normaliser.js";
import { checkUnion } from "./overlap.js";
import { neverShape, type ObjectShape, type Property, type Rest, type Shape, unknownShape } from "./shape.js";
import { unite } from "./unite.js";

/** Finishes a composition. */
export function finish(shape: Shape, place: Place, normaliser: Normaliser): Shape {
  if (shape.kind === "never" && normaliser.accepts(place)) {
    normaliser.report(place, { rule: "never-matches", message: "no value can ever satisfy this schema" });
  }
  if (shape.kind === "object") return finishObject(shape, place, normaliser);
  if (shape.kind !== "union") return shape;
  const union = unite(
    shape.members.map((member) => (member.kind === "object" ? finishObject(member, place, normaliser) : member)),
  );
  checkUnion(union, place, normaliser);
  return union;
}

function finishObject(shape: ObjectShape, place: Place, normaliser: Normaliser): Shape {
  const properties = new Map<string, Property>();
  for (const [key, property] of shape.properties) {
    const declared = property.declared ? property : declare(shape, key, property, place, normaliser);
    const allowed = shape.names === undefined || shape.names.has(key);
    properties.set(key, allowed ? declared : { ...declared, shape: neverShape });
  }
  for (const [key, property] of properties) {
    if (!property.required || property.shape.kind !== "never") continue;
    const message = `the required property ${JSON.stringify(key)} can never have a value`;
    normaliser.report(property.place ?? place, { rule: "never-matches", message });
  }
  return sealed({ ...shape, properties });
}

function declare(shape: ObjectShape, key: string, property: Property, place: Place, normaliser: Normaliser): Property {
  const pattern = shape.patterns.find((candidate) => matches(candidate, key));
  if (pattern !== undefined) return { ...property, declared: true, shape: pattern.shape };
  if (typeof shape.rest !== "string") return { ...property, declared: true, shape: shape.rest };
  normaliser.report(property.place ?? place, {
    rule: "required-undeclared",
    message: `${JSON.stringify(key)} is required but not declared in properties`,
    hint: `declare it: "properties": { ${JSON.stringify(key)}: {} }`,
  });
  return property;
}

function sealed(shape: ObjectShape): ObjectShape {
  if (shape.names !== undefined && shape.rest !== "closed" && shape.rest !== "silent")
    return listedKeys(shape, shape.names);
  if (shape.rest !== "silent") return shape;
  if (shape.names !== undefined) return listedKeys({ ...shape, rest: unknownShape }, shape.names);
  // An object that names no key at all is a map of anything: a sealed one could only ever be empty.
  return { ...shape, rest: shape.properties.size === 0 ? unknownShape : "sealed" };
}

// `propertyNames` with a list turns a map into optional properties.
function listedKeys(shape: ObjectShape, names: ReadonlySet<string>): ObjectShape {
  const rest: Rest = shape.rest;
  const properties = new Map(shape.properties);
  for (const name of names) {
    if (properties.has(name) || typeof rest === "string") continue;
    const pattern = shape.patterns.find((candidate) => matches(candidate, name));
    properties.set(name, { shape: pattern?.shape ?? rest, required: false, declared: true, place: shape.place });
  }
  return { ...shape, properties, rest: "closed", patterns: [] };
}
