/**
 * Whether everything that one schema accepts is accepted by another. "Proven" is a proof; anything else is not "no" but
 * "not proven", and the gate treats it as a break: what is not understood is never called compatible.
 */
import { canonicalJson } from "../bundle.js";
import { isSchemaObject, type SchemaObject } from "../schema.js";
import { conjunctionOf, typesOf, valuesOf } from "./conjunction.js";
import type { SchemaDocument } from "./document.js";
import { arrayIncluded, numberIncluded, objectIncluded, stringIncluded } from "./obligations.js";
import { sameMeaning } from "./same-meaning.js";

/** More cases than this are not worked through. */
const maxCases = 256;

/** A comparison of two documents: what `sub` accepts against what `sup` accepts. */
export class Inclusion {
  readonly sub: SchemaDocument;
  readonly sup: SchemaDocument;
  readonly #assumed = new Set<string>();
  #cases = 0;

  constructor(sub: SchemaDocument, sup: SchemaDocument) {
    this.sub = sub;
    this.sup = sup;
  }

  /** Whether the whole of one document is proven to be included in the other. */
  get proven(): boolean {
    return this.included([this.sub.root], this.sup.root);
  }

  /** Whether a conjunction of schemas of `sub` is proven to be included in one schema of `sup`. */
  included(schemas: readonly unknown[], target: unknown): boolean {
    if (target === true || (isSchemaObject(target) && Object.keys(target).length === 0)) return true;
    const key = `${schemas.map(canonicalJson).join("&")}<${canonicalJson(target)}`;
    // Recursive schemas come back to a question that is being answered: assuming it is sound, as the values are finite.
    if (this.#assumed.has(key)) return true;
    this.#cases += 1;
    if (this.#cases > maxCases * 16) return false;
    this.#assumed.add(key);
    const answer = this.#decide(schemas, target);
    if (!answer) this.#assumed.delete(key);
    return answer;
  }

  #decide(schemas: readonly unknown[], target: unknown): boolean {
    const { parts, never } = conjunctionOf(schemas, this.sub);
    if (never) return true;
    const wanted = conjunctionOf([target], this.sup);
    if (wanted.never) return false;
    const cases = casesOf(parts, this.sub);
    if (cases === undefined) return false;
    return cases.every((single) => wanted.parts.every((part) => this.#meets(single, part)));
  }

  // One case of `sub` against one flat part of `sup`.
  #meets(parts: readonly SchemaObject[], wanted: SchemaObject): boolean {
    const listed = valuesOf(parts);
    if (listed !== undefined) {
      return listed.every((value) => !this.sub.accepts(parts, value) || this.sup.accepts([wanted], value));
    }
    if (parts.some((part) => equal(part, wanted))) return true;
    const types = typesOf(parts);
    // `string | null` may fit `anyOf: [string, null]` although neither branch takes both.
    if (types.length > 1 && ("anyOf" in wanted || "oneOf" in wanted)) {
      return types.every((type) => this.#meets([...parts, { type }], wanted));
    }
    const allowed = typesOf([wanted]);
    if (!types.every((type) => allowed.includes(type) || (type === "integer" && allowed.includes("number"))))
      return false;
    if ("enum" in wanted || "const" in wanted) return this.#listable(types, parts, wanted);
    if (!this.#opaqueKeywordsEqual(parts, wanted)) return false;
    if (!this.#unionMet(parts, wanted)) return false;
    return types.every((type) => {
      if (type === "number" || type === "integer") return numberIncluded(parts, wanted, type);
      if (type === "string") return stringIncluded(parts, wanted);
      if (type === "array") return arrayIncluded(parts, wanted, this);
      return type === "object" ? objectIncluded(parts, wanted, this) : true;
    });
  }

  #listable(types: readonly string[], parts: readonly SchemaObject[], wanted: SchemaObject): boolean {
    const values = types.flatMap((type) =>
      type === "null" ? [null] : type === "boolean" ? [true, false] : [undefined],
    );
    return values.every(
      (value) => value !== undefined && (!this.sub.accepts(parts, value) || this.sup.accepts([wanted], value)),
    );
  }

  // A test must be the same on both sides; what follows from it is a schema like any other.
  #opaqueKeywordsEqual(parts: readonly SchemaObject[], wanted: SchemaObject): boolean {
    const alike = (a: unknown, b: unknown) => sameMeaning(a, b, [this.sub, this.sup]);
    for (const keyword of ["not", "dependencies"]) {
      if (keyword in wanted && !parts.some((part) => keyword in part && alike(part[keyword], wanted[keyword])))
        return false;
    }
    if (
      "if" in wanted &&
      !parts.some((part) => "if" in part && alike(part.if, wanted.if) && this.#followed(parts, part, wanted))
    )
      return false;
    const asked = isSchemaObject(wanted.dependentSchemas) ? wanted.dependentSchemas : {};
    return Object.entries(asked).every(([key, target]) => {
      const own = parts.flatMap(({ dependentSchemas: map }) =>
        isSchemaObject(map) && Object.hasOwn(map, key) ? [map[key]] : [],
      );
      return this.included([...parts, ...own], target);
    });
  }

  #followed(parts: readonly SchemaObject[], part: SchemaObject, wanted: SchemaObject): boolean {
    return ["then", "else"].every((keyword) =>
      this.included([...parts, part[keyword] ?? true], wanted[keyword] ?? true),
    );
  }

  #unionMet(parts: readonly SchemaObject[], wanted: SchemaObject): boolean {
    const { anyOf, oneOf } = wanted;
    if (Array.isArray(anyOf) && !anyOf.some((branch) => this.included(parts, branch))) return false;
    if (!Array.isArray(oneOf)) return true;
    const met = oneOf.filter((branch) => this.included(parts, branch));
    if (met.length !== 1) return false;
    return oneOf.every((branch) => branch === met[0] || this.#disjoint(parts, branch));
  }

  // Enough for unions that tell their branches apart: by type, or by a required property's listed values.
  #disjoint(parts: readonly SchemaObject[], branch: unknown): boolean {
    const other = conjunctionOf([branch], this.sup);
    if (other.never) return true;
    const [mine, theirs] = [typesOf(parts), typesOf(other.parts)];
    const shared = mine.filter((type) => theirs.some((candidate) => numeric(candidate) === numeric(type)));
    if (shared.length === 0) return true;
    const listed = valuesOf(other.parts) ?? valuesOf(parts);
    if (listed !== undefined) {
      return !listed.some((value) => this.sub.accepts(parts, value) && this.sup.accepts(other.parts, value));
    }
    return shared.length === 1 && shared[0] === "object" && this.#toldApart(parts, other.parts);
  }

  #toldApart(mine: readonly SchemaObject[], theirs: readonly SchemaObject[]): boolean {
    return theirs.some(({ properties, required }) =>
      Object.entries(isSchemaObject(properties) ? properties : {}).some(([key, schema]) => {
        const both = Array.isArray(required) && required.includes(key) && mine.some((part) => requires(part, key));
        if (!both) return false;
        const values = valuesOf(
          conjunctionOf(
            mine.flatMap((part) => propertyIn(part, key)),
            this.sub,
          ).parts,
        );
        return values !== undefined && !values.some((value) => this.sup.accepts([schema], value));
      }),
    );
  }
}

/** A conjunction as cases without unions; `undefined` when there are too many. */
function casesOf(parts: readonly SchemaObject[], document: SchemaDocument): SchemaObject[][] | undefined {
  let cases: SchemaObject[][] = [[]];
  for (const part of parts) {
    const { anyOf, oneOf, ...rest } = part;
    cases = cases.map((known) => [...known, rest]);
    for (const branches of [anyOf, oneOf]) {
      if (!Array.isArray(branches)) continue;
      const possible = branches.filter((branch) => !conjunctionOf([branch], document).never);
      const expanded = possible.flatMap((branch) => {
        const inner = casesOf(conjunctionOf([branch], document).parts, document);
        return inner ?? [[]];
      });
      cases = cases.flatMap((known) => expanded.map((more) => [...known, ...more]));
      if (cases.length > maxCases) return undefined;
    }
  }
  return cases;
}

function numeric(type: string): string {
  return type === "integer" ? "number" : type;
}

function requires(part: SchemaObject, key: string): boolean {
  return Array.isArray(part.required) && part.required.includes(key);
}

function propertyIn(part: SchemaObject, key: string): unknown[] {
  const { properties } = part;
  return isSchemaObject(properties) && Object.hasOwn(properties, key) ? [properties[key]] : [];
}

// The same text with a reference in it may mean two things: each document has definitions of its own.
function equal(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  const text = canonicalJson(a);
  return text === canonicalJson(b) && !text.includes('"$ref":');
}
