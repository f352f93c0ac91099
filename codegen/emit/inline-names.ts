/** Objects written in place get the path to them as their name: `OrderPlacedLinesItem`. */
import type { ObjectShape, Shape } from "../shape/shape.js";
import { wordName } from "../type-names.js";

/** Names the objects below a declaration. A name that is taken leaves its object without one: written where it stands. */
export function nameInlineObjects(of: {
  name: string;
  shape: Shape;
  taken: Set<string>;
  names: Map<ObjectShape, string>;
}): void {
  const visit = (shape: Shape, path: string, nameable: boolean): void => {
    if (shape.kind === "union") for (const member of shape.members) visit(member, path, false);
    if (shape.kind === "array") {
      for (const item of [...shape.prefix, shape.rest]) visit(item, `${path}Item`, true);
    }
    if (shape.kind !== "object" || of.names.has(shape)) return;
    if (nameable && speaksOfSchema(shape) && !of.taken.has(path)) {
      of.taken.add(path);
      of.names.set(shape, path);
    }
    for (const [key, property] of shape.properties) visit(property.shape, path + wordName(key), true);
    if (typeof shape.rest !== "string") visit(shape.rest, `${path}Value`, true);
    for (const pattern of shape.patterns) visit(pattern.shape, `${path}Value`, true);
  };
  visit(of.shape, of.name, false);
}

// The shape of a const's value is no type anybody would name; an object without keys is a map.
function speaksOfSchema(shape: ObjectShape): boolean {
  return [...shape.properties.values()].some((property) => property.place !== undefined);
}
