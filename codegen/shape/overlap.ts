/** Unions that TypeScript reads differently from JSON Schema are refused here. */
import type { Place } from "../load.js";
import type { Normaliser } from "./normaliser.js";
import { literalsOf, membersOf, type ObjectShape, type Shape } from "./shape.js";
import { discriminated, disjoint, sameKeys } from "./unite.js";

/** Refuses a `oneOf` whose branches overlap in a way that a type could exclude and a union does not. */
export function checkOneOf(branches: readonly Shape[], place: Place, normaliser: Normaliser): void {
  const expand = (shape: Shape) => normaliser.expand(shape);
  for (const [at, branch] of branches.entries()) {
    const later = branches.findIndex((other, index) => index > at && overlaps(branch, other, expand));
    if (later < 0) continue;
    normaliser.report(place, {
      rule: "oneof-overlap",
      message: `a value may fit branches ${at} and ${later} of this oneOf at once, which oneOf forbids and a type cannot`,
      hint: "give every branch a required property with a const of its own, or write anyOf",
    });
    return;
  }
}

function overlaps(a: Shape, b: Shape, expand: (shape: Shape) => Shape): boolean {
  return membersOf(expand(a)).some((mine) =>
    membersOf(expand(b)).some((theirs) => expressible(expand(mine), expand(theirs)) && !disjoint(mine, theirs, expand)),
  );
}

// Two ranges of strings or numbers may overlap: no type says either, so nothing is promised that does not hold.
function expressible(a: Shape, b: Shape): boolean {
  const compound = (shape: Shape) => shape.kind === "object" || shape.kind === "array";
  if (compound(a) && compound(b)) return true;
  return literalsOf(a) !== undefined && literalsOf(b) !== undefined;
}

/** Refuses a union of objects whose literals TypeScript would let mix: it checks excess keys against all members at once. */
export function checkUnion(union: Shape, place: Place, normaliser: Normaliser): void {
  const objects = membersOf(union)
    .map((member) => normaliser.expand(member))
    .flatMap(membersOf)
    .filter((member): member is ObjectShape => member.kind === "object");
  for (const [at, object] of objects.entries()) {
    const mixes = (other: ObjectShape) =>
      !sameKeys(object, other) && !discriminated(object, other, literals(normaliser));
    if (!objects.slice(at + 1).some(mixes)) continue;
    normaliser.report(place, {
      rule: "union-overlap",
      message:
        "these object branches have different keys and no property tells them apart, so a type would let them mix",
      hint: "give every branch a required property with a const of its own, or declare the same properties in each",
    });
    return;
  }
}

function literals(normaliser: Normaliser): (shape: Shape) => readonly unknown[] | undefined {
  return (shape) => literalsOf(normaliser.expand(shape));
}
