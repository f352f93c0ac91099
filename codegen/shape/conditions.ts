/** `dependentRequired`, `dependentSchemas`, `if` and `not`, as unions where a type can say them. */
import type { Place } from "../load.js";
import { childPointer } from "../pointer.js";
import { isAnnotation, isSchemaObject, type SchemaObject } from "../schema.js";
import { type Condition, conditionOf } from "./condition.js";
import type { Normaliser, TypeContext } from "./normaliser.js";
import {
  literalsOf,
  membersOf,
  neverShape,
  type ObjectShape,
  type Property,
  type ScalarValue,
  type Shape,
  unknownShape,
} from "./shape.js";
import { unite } from "./unite.js";

interface Step {
  readonly shape: Shape;
  readonly schema: SchemaObject;
  readonly place: Place;
  readonly types: TypeContext;
  readonly normaliser: Normaliser;
}

/** More branches than this make a type nobody can read. */
const maxBranches = 32;

/** A property that, when it is there, asks for more: `{ card?: never } | { card: string; cvc: string }`. */
export function dependent(step: Step): Shape {
  let { shape } = step;
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
    const map = step.schema[keyword];
    for (const [key, asked] of Object.entries(isSchemaObject(map) ? map : {})) {
      const pointer = childPointer(childPointer(step.place.pointer, keyword), key);
      const place = { file: step.place.file, pointer };
      shape = unite(membersOf(shape).flatMap((member) => dependOn({ ...step, member, key, asked, place })));
      if (membersOf(shape).length > maxBranches) {
        step.normaliser.report(place, { rule: "too-many-branches", message: `more than ${maxBranches} combinations` });
        return shape;
      }
    }
  }
  return shape;
}

function dependOn(of: Step & { member: Shape; key: string; asked: unknown }): Shape[] {
  const { member, key } = of;
  if (member.kind !== "object") return [member];
  const property = member.properties.get(key);
  if (property === undefined || !property.declared) {
    if (typeof member.rest === "string" && member.patterns.length === 0) return [member];
    const message = `${JSON.stringify(key)} is not declared in properties, so no type can say what depends on it`;
    of.normaliser.report(of.place, { rule: "dependent-undeclared", message });
    return [member];
  }
  const present = withProperty(member, key, { ...property, required: true });
  const asked = Array.isArray(of.asked)
    ? of.normaliser.both(present, requiring(of.asked as string[], of.place), of.place)
    : of.normaliser.both(present, of.normaliser.fragment(of.place, ["object"]), of.place);
  if (property.required) return [asked];
  return [withProperty(member, key, { ...property, shape: neverShape }), asked];
}

/** The parts of an object that a list of required names asks for. */
function requiring(names: readonly string[], place: Place): ObjectShape {
  const properties = new Map(
    names.map((name) => [name, { shape: unknownShape, required: true, declared: false, place }]),
  );
  return { kind: "object", properties, rest: "silent", patterns: [], place };
}

/** `if` on one property with a list of values: a branch per outcome. Anything else is refused unless no type could say it. */
export function conditional(step: Step): Shape {
  const { schema, place, normaliser } = step;
  if (schema.if === undefined) return step.shape;
  const consequence = (keyword: string): Shape =>
    schema[keyword] === undefined
      ? unknownShape
      : normaliser.fragment({ file: place.file, pointer: childPointer(place.pointer, keyword) }, step.types);
  const branches = { yes: consequence("then"), no: consequence("else") };
  const condition = conditionOf(schema.if);
  const at = { file: place.file, pointer: childPointer(place.pointer, "if") };
  if (condition === undefined) {
    normaliser.report(at, {
      rule: "if-unsupported",
      message: "only a test of one property against const or enum can be typed",
      hint: "write the variants as oneOf with a const property in each",
    });
    return step.shape;
  }
  return unite(membersOf(step.shape).flatMap((member) => split({ member, condition, branches, at, normaliser })));
}

interface Split {
  readonly member: Shape;
  readonly condition: Condition;
  readonly branches: { readonly yes: Shape; readonly no: Shape };
  readonly at: Place;
  readonly normaliser: Normaliser;
}

function split(of: Split): Shape[] {
  const { member, condition, branches, at, normaliser } = of;
  if (member.kind !== "object") return [member];
  const property = member.properties.get(condition.key);
  const values = property === undefined ? undefined : literalsOf(normaliser.expand(property.shape));
  if (property === undefined || values === undefined) return [untold(of, member)];
  const inside = values.filter((value) => condition.values.includes(value));
  const outside = values.filter((value) => !condition.values.includes(value));
  // An absent property passes `if` unless `if` requires it.
  const absentPasses = !condition.required;
  const yes = narrowed(member, condition.key, property, inside, absentPasses);
  const no = narrowed(member, condition.key, property, outside, !absentPasses);
  return [
    ...(yes === undefined ? [] : [normaliser.both(yes, branches.yes, at)]),
    ...(no === undefined ? [] : [normaliser.both(no, branches.no, at)]),
  ];
}

function narrowed(
  member: ObjectShape,
  key: string,
  property: Property,
  values: readonly ScalarValue[],
  mayBeAbsent: boolean,
): Shape | undefined {
  const required = property.required || !mayBeAbsent;
  if (values.length === 0 && required) return undefined;
  const shape = unite(values.map((value): Shape => ({ kind: "literal", value })));
  return withProperty(member, key, { ...property, shape, required });
}

// Without a list of values no type can tell the outcomes apart; harmless only while they name no key of their own.
function untold(of: Split, member: ObjectShape): Shape {
  const news = [of.branches.yes, of.branches.no]
    .flatMap(membersOf)
    .flatMap((branch) => (branch.kind === "object" ? [...branch.properties] : []))
    .filter(([key, property]) => property.declared && !member.properties.has(key));
  if (news.length > 0 || !member.properties.has(of.condition.key)) {
    const name = JSON.stringify(of.condition.key);
    const message = `the outcomes differ in their keys, but ${name} has no list of values to tell them apart`;
    of.normaliser.report(of.at, { rule: "if-unsupported", message, hint: `give ${name} an enum` });
  }
  return member;
}

/** `not` with const or enum takes listed values away; with bounds of scalars it says what no type can. */
export function negated(step: Omit<Step, "types">): Shape {
  const { schema, place, normaliser, shape } = step;
  if (schema.not === undefined) return shape;
  const at = { file: place.file, pointer: childPointer(place.pointer, "not") };
  const keys = isSchemaObject(schema.not) ? Object.keys(schema.not).filter((key) => !isAnnotation(key)) : [];
  const scalar = membersOf(shape).every((member) => member.kind === "scalar" || member.kind === "literal");
  if (keys.length === 0 || !scalar || !keys.every((key) => scalarAssertions.has(key))) {
    normaliser.report(at, {
      rule: "not-unsupported",
      message: "not is understood only beside a scalar type, with const, enum or bounds",
      hint: "say what the value is instead of what it is not",
    });
    return shape;
  }
  const not = schema.not as SchemaObject;
  const excluded = keys.length === 1 ? (Array.isArray(not.enum) ? not.enum : "const" in not ? [not.const] : []) : [];
  const values = literalsOf(shape);
  if (values === undefined) return shape;
  return unite(values.filter((value) => !excluded.includes(value)).map((value): Shape => ({ kind: "literal", value })));
}

const scalarAssertions: ReadonlySet<string> = new Set([
  ...["const", "enum", "pattern", "format", "minLength", "maxLength"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
]);

function withProperty(object: ObjectShape, key: string, property: Property): ObjectShape {
  return { ...object, properties: new Map(object.properties).set(key, property) };
}
