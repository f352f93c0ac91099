/**
 * Schema -> shape. `whole` is what stands in a property, an item or a definition; `fragment` is one part of a composition,
 * not yet closed. What TypeScript cannot say honestly is reported and not guessed.
 */
import type { Place, SchemaFile } from "../load.js";
import { childPointer, valueAt } from "../pointer.js";
import { resolveReference } from "../reference.js";
import type { Finding, Report } from "../report.js";
import { isAnnotation, isSchemaObject, type SchemaObject } from "../schema.js";
import { arrayShape } from "./arrays.js";
import { conditional, dependent, negated } from "./conditions.js";
import { finish } from "./finish.js";
import { intersect } from "./intersect.js";
import { closeUnevaluated, objectShape } from "./objects.js";
import { checkOneOf } from "./overlap.js";
import { type NamedShape, neverShape, type Shape, scalarShape, shapeOfValue, unknownShape } from "./shape.js";
import { unite } from "./unite.js";

/** The JSON types a value may still have where a schema stands that names none itself. */
export type TypeContext = readonly string[] | undefined;

const jsonTypes = ["object", "array", "string", "number", "boolean", "null"] as const;

const keywordsByType: Readonly<Record<string, readonly string[]>> = {
  object: ["properties", "required", "additionalProperties", "patternProperties", "propertyNames"],
  array: ["items", "prefixItems", "additionalItems", "minItems", "maxItems"],
};

/** Turns the schemas of a folder into shapes. Definitions are built once, and may refer to each other. */
export class Normaliser {
  readonly #files: ReadonlyMap<string, SchemaFile>;
  readonly #report: Report;
  readonly #named = new Map<string, NamedShape>();
  readonly #open = new Set<string>();

  constructor(files: ReadonlyMap<string, SchemaFile>, report: Report) {
    this.#files = files;
    this.#report = report;
  }

  /** The definition at a place, built once. */
  named(place: Place): NamedShape {
    const key = placeKey(place);
    const known = this.#named.get(key);
    if (known !== undefined) return known;
    const named: NamedShape = { place };
    this.#named.set(key, named);
    named.shape = this.whole(place);
    return named;
  }

  /** Every definition that was reached, in order of first use. */
  get definitions(): readonly NamedShape[] {
    return [...this.#named.values()];
  }

  /** The finished shape of the schema at a place. */
  whole(place: Place): Shape {
    const schema = valueAt(place.file.json.value, place.pointer);
    const target = this.#soleReference(schema, place);
    if (target !== undefined) return { kind: "ref", target: this.named(target) };
    return finish(this.fragment(place, undefined), place, this);
  }

  /**
   * The shape of one part of a composition, before it is closed, together with what is known of the value already: a
   * condition in one `allOf` member speaks of properties that another declares.
   */
  fragment(place: Place, context: TypeContext, known: Shape = unknownShape): Shape {
    const schema = valueAt(place.file.json.value, place.pointer);
    if (!isSchemaObject(schema)) return schema === false ? neverShape : known;
    // What is not evaluated is not evaluated by this schema: the rest of the composition does not count.
    if ("unevaluatedProperties" in schema && known.kind !== "unknown") {
      return this.both(known, this.fragment(place, context), place);
    }
    const types = typesOf(schema) ?? context;
    let shape = this.both(known, this.#own(schema, place, types), place);
    if (typeof schema.$ref === "string") shape = this.#reference(schema.$ref, { place, types, known: shape });
    for (const at of this.#allOf(schema, place)) shape = this.fragment(at, types, shape);
    shape = this.#branches(shape, schema, place, types);
    shape = dependent({ shape, schema, place, types, normaliser: this });
    shape = conditional({ shape, schema, place, types, normaliser: this });
    shape = negated({ shape, schema, place, normaliser: this });
    return closeUnevaluated({ shape, schema, place, normaliser: this });
  }

  /** The intersection of two shapes; what cannot be combined is reported at a place. */
  both(a: Shape, b: Shape, place: Place): Shape {
    return intersect(a, b, { expand: (shape) => this.expand(shape), report: (finding) => this.report(place, finding) });
  }

  /** What a reference stands for; other shapes as they are. */
  expand(shape: Shape): Shape {
    if (shape.kind !== "ref") return shape;
    const expanded = shape.target.shape;
    // Still being built: a definition that is part of itself. Its own fault is reported where it is built.
    return expanded === undefined ? unknownShape : this.expand(expanded);
  }

  /** Whether the schema at a place is meant to accept something: `false` itself is not. */
  accepts(place: Place): boolean {
    return valueAt(place.file.json.value, place.pointer) !== false;
  }

  report(place: Place, finding: Finding): void {
    this.#report.add(place, finding);
  }

  #own(schema: SchemaObject, place: Place, types: TypeContext): Shape {
    let shape =
      typesOf(schema) !== undefined || this.#speaks(schema) ? this.#typed(schema, place, types) : unknownShape;
    const values = Array.isArray(schema.enum) ? schema.enum : undefined;
    if (values !== undefined) shape = this.both(shape, unite(values.map((value) => shapeOfValue(value, place))), place);
    if ("const" in schema) shape = this.both(shape, shapeOfValue(schema.const, place), place);
    return shape;
  }

  #speaks(schema: SchemaObject): boolean {
    return Object.values(keywordsByType).some((keywords) => keywords.some((keyword) => keyword in schema));
  }

  #typed(schema: SchemaObject, place: Place, types: TypeContext): Shape {
    return unite(
      (types ?? jsonTypes).map((type) => {
        if (type === "object") return objectShape(schema, place, this);
        if (type === "array") return arrayShape(schema, place, this);
        return scalarShape(type === "integer" ? "number" : (type as "string"));
      }),
    );
  }

  #reference(ref: string, of: { place: Place; types: TypeContext; known: Shape }): Shape {
    const { place, types, known } = of;
    const resolved = resolveReference(ref, place.file, this.#files);
    if (resolved.fault !== undefined) return known;
    const key = placeKey(resolved.target);
    if (this.#open.has(key)) {
      const at = { ...place, pointer: childPointer(place.pointer, "$ref") };
      this.report(at, {
        rule: "ref-cycle",
        message: "this $ref leads back to itself without an object or array between",
      });
      return neverShape;
    }
    this.#open.add(key);
    try {
      return this.fragment(resolved.target, types, known);
    } finally {
      this.#open.delete(key);
    }
  }

  #branches(known: Shape, schema: SchemaObject, place: Place, types: TypeContext): Shape {
    let shape = known;
    for (const keyword of ["anyOf", "oneOf"]) {
      const places = this.#list(schema, place, keyword);
      if (places.length === 0) continue;
      // A parent that says nothing leaves its branches whole, so that a branch that is a $ref keeps its name.
      const free = shape.kind === "unknown" && !("unevaluatedProperties" in schema) && !this.#hasFurther(schema);
      const parent = shape;
      const branches = places.map((at) => (free ? this.whole(at) : this.both(parent, this.fragment(at, types), at)));
      if (keyword === "oneOf") checkOneOf(branches, place, this);
      shape = unite(branches);
    }
    return shape;
  }

  // Conditions last: they split what the other members declare.
  #allOf(schema: SchemaObject, place: Place): Place[] {
    const members = this.#list(schema, place, "allOf");
    const splits = ({ file, pointer }: Place) => {
      const member = valueAt(file.json.value, pointer);
      return isSchemaObject(member) && (this.#hasFurther(member) || "anyOf" in member || "oneOf" in member);
    };
    return [...members.filter((member) => !splits(member)), ...members.filter(splits)];
  }

  #hasFurther(schema: SchemaObject): boolean {
    return ["if", "dependentRequired", "dependentSchemas", "dependencies", "not"].some((keyword) => keyword in schema);
  }

  #list(schema: SchemaObject, place: Place, keyword: string): Place[] {
    const list = schema[keyword];
    if (!Array.isArray(list)) return [];
    const at = childPointer(place.pointer, keyword);
    return list.map((_, index) => ({ file: place.file, pointer: childPointer(at, index) }));
  }

  #soleReference(schema: unknown, place: Place): Place | undefined {
    if (!isSchemaObject(schema)) return undefined;
    const keys = Object.keys(schema).filter((key) => !isAnnotation(key) && key !== "$defs" && key !== "definitions");
    const only = keys.length === 1 ? keys[0] : undefined;
    const ref = only === "allOf" ? soleMember(schema.allOf) : only === "$ref" ? schema : undefined;
    if (typeof ref?.$ref !== "string") return undefined;
    const resolved = resolveReference(ref.$ref, place.file, this.#files);
    return resolved.fault === undefined ? resolved.target : undefined;
  }
}

// `{ allOf: [{ $ref }] }` is draft-07's way to put a description beside a reference.
function soleMember(list: unknown): SchemaObject | undefined {
  if (!Array.isArray(list) || list.length !== 1 || !isSchemaObject(list[0])) return undefined;
  return Object.keys(list[0]).every((key) => key === "$ref" || isAnnotation(key)) ? list[0] : undefined;
}

/** The types a schema names, as a list. */
export function typesOf(schema: SchemaObject): string[] | undefined {
  if (typeof schema.type === "string") return [schema.type];
  return Array.isArray(schema.type) ? (schema.type as string[]) : undefined;
}

/** One text per place. */
export function placeKey(place: Place): string {
  return `${place.file.path}#${place.pointer}`;
}
