/** Objects written in place get the path to them as their name: `OrderPlacedLinesItem`. */
import type { ObjectShape, Shape } from "../shape/shape.js";
import { wordName } from "../type-names.js";

/** Names the objects below a declaration. A name that is taken leaves its object without one: written where it stands. */
export function nameInlineObjects(of: {
  name: string;
  shape: Shape;
  taken: Set<string>;
  names: Map<Shape, string>;
}): void {
  const claim = (shape: Shape, name: string): void => {
    if (of.taken.has(name) || of.names.has(shape)) return;
    of.taken.add(name);
    of.names.set(shape, name);
  };
  const visit = (shape: Shape, path: string, nameable: boolean): void => {
    if (shape.kind === "union") for (const member of shape.members) visit(member, path, false);
    if (shape.kind === "array") {
      for (const item of [...shape.prefix, shape.rest]) visit(item, `${path}Item`, true);
    }
    if (shape.kind !== "object" || of.names.has(shape)) return;
    if (nameable && speaksOfSchema(shape)) claim(shape, path);
    for (const [key, property] of shape.properties) visit(property.shape, path + wordName(key), true);
    if (typeof shape.rest !== "string") visit(shape.rest, `${path}Value`, true);
    for (const [index, pattern] of shape.patterns.entries()) {
      const name = `${path}Value${index === 0 ? "" : index + 1}`;
      visit(pattern.shape, name, true);
      // A template key's type is written by name, unless it is simple enough to be written as it is.
      if (shape.properties.size > 0 && compound(pattern.shape)) claim(pattern.shape, name);
    }
  };
  visit(of.shape, of.name, false);
}

function compound(shape: Shape): boolean {
  return shape.kind === "array" || shape.kind === "object" || (shape.kind === "union" && shape.members.some(compound));
}

// The shape of a const's value is no type anybody would name; an object without keys is a map.
function speaksOfSchema(shape: ObjectShape): boolean {
  return [...shape.properties.values()].some((property) => property.place !== undefined);
}
