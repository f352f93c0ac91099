/** The search for a message that one schema accepts and another refuses: the most convincing error text there is. */
import { canonicalJson } from "../bundle.js";
import { isSchemaObject, type SchemaObject } from "../schema.js";
import { tupleOf } from "./conjunction.js";
import type { SchemaDocument } from "./document.js";
import { hintsOf, patternSamples, scalarCandidates, sizeCandidates } from "./scalars.js";

/** A message that `sub` accepts and `sup` refuses, and what `sup` says. */
export interface Witness {
  readonly message: unknown;
  readonly pointer: string;
  readonly keyword: string;
}

const maxDepth = 6;
const maxValues = 60;
const maxWitnesses = 20;

/** Witnesses against inclusion, one per place and keyword, the shortest first. `examples` are tried as well. */
export function findWitnesses(sub: SchemaDocument, sup: SchemaDocument, examples: readonly unknown[] = []): Witness[] {
  const search = new Search(sub, sup);
  const witnesses = new Map<string, Witness>();
  const candidates = [...examples, ...search.values([sub.root], [sup.root], 0)];
  const sized = candidates.map((message) => ({ message, size: canonicalJson(message).length }));
  for (const { message } of sized.sort((a, b) => a.size - b.size)) {
    const error = sub.accepts([sub.root], message) ? sup.errorOf([sup.root], message) : undefined;
    if (error === undefined) continue;
    const key = `${error.instancePath.replace(/\/\d+/g, "/*")} ${error.keyword}`;
    if (!witnesses.has(key)) witnesses.set(key, { message, pointer: error.instancePath, keyword: error.keyword });
    if (witnesses.size >= maxWitnesses) break;
  }
  return [...witnesses.values()];
}

class Search {
  readonly #sub: SchemaDocument;
  readonly #sup: SchemaDocument;

  constructor(sub: SchemaDocument, sup: SchemaDocument) {
    this.#sub = sub;
    this.#sup = sup;
  }

  /** Values that `mine` accepts, those that `theirs` refuses first. */
  values(mine: readonly unknown[], theirs: readonly unknown[], depth: number): unknown[] {
    if (depth > maxDepth) return [];
    const hints = [
      ...hintsOf(mine, (ref) => this.#sub.resolve(ref)),
      ...hintsOf(theirs, (ref) => this.#sup.resolve(ref)),
    ];
    const own = {
      mine: hintsOf(mine, (ref) => this.#sub.resolve(ref)),
      theirs: hintsOf(theirs, (ref) => this.#sup.resolve(ref)),
    };
    const candidates = [
      ...scalarCandidates(hints),
      ...this.#arrays(own, hints, depth),
      ...this.#objects(own, hints, depth),
    ];
    const unique = new Map(candidates.map((value) => [canonicalJson(value), value]));
    const accepted = [...unique.values()].filter((value) => this.#sub.accepts(mine, value));
    const refused = accepted.filter((value) => !this.#sup.accepts(theirs, value));
    const fine = accepted.filter((value) => !refused.includes(value));
    return [...refused.slice(0, maxValues), ...fine.slice(0, Math.max(4, maxValues - refused.length))];
  }

  #arrays(own: Hints, hints: readonly SchemaObject[], depth: number): unknown[] {
    if (!hints.some((hint) => speaksOf(hint, "array"))) return [[]];
    const sizes = sizeCandidates(hints, ["minItems", "maxItems", "minContains", "maxContains"]);
    const longest = Math.max(...hints.map((hint) => tupleOf(hint).prefix.length)) + 1;
    const items = (list: readonly SchemaObject[], index: number) =>
      list
        .filter((hint) => speaksOf(hint, "array"))
        .map((hint) => tupleOf(hint))
        .map(({ prefix, rest }) => prefix[index] ?? rest);
    const contained = hints.flatMap((hint) => (hint.contains === undefined ? [] : [hint.contains]));
    const at = (index: number) =>
      this.values(items(own.mine, index), [...items(own.theirs, index), ...contained], depth + 1);
    const columns = Array.from({ length: longest }, (_, index) => at(index));
    const pick = (index: number, choice: number) => {
      const column = columns[Math.min(index, columns.length - 1)] ?? [];
      return column.length === 0 ? undefined : column[choice % column.length];
    };
    const lists = [...new Set([...sizes, longest - 1, longest])].flatMap((size) => [
      ...Array.from({ length: 6 }, (_, choice) => Array.from({ length: size }, (_, index) => pick(index, choice))),
      Array.from({ length: size }, (_, index) => pick(index, index)),
      // Inside each position, everything that was found for it.
      ...Array.from({ length: Math.min(size, longest) }, (_, index) =>
        (columns[index] ?? [])
          .slice(0, 8)
          .map((value) => Array.from({ length: size }, (_, at) => (at === index ? value : pick(at, -1 + 1)))),
      ).flat(),
    ]);
    return lists.filter((list) => list.every((value) => value !== undefined));
  }

  #objects(own: Hints, hints: readonly SchemaObject[], depth: number): unknown[] {
    if (!hints.some((hint) => speaksOf(hint, "object"))) return [{}];
    const keys = keyCandidates(hints);
    const schemas = (list: readonly SchemaObject[], key: string) => list.flatMap((hint) => underKey(hint, key));
    const columns = new Map(
      keys.map((key) => [key, this.values(schemas(own.mine, key), schemas(own.theirs, key), depth + 1)]),
    );
    const required = new Set(
      own.mine.flatMap((hint) => (Array.isArray(hint.required) ? (hint.required as string[]) : [])),
    );
    const declared = keys.filter((key) =>
      hints.some((hint) => isSchemaObject(hint.properties) && key in hint.properties),
    );
    const filled = keys.filter((key) => (columns.get(key) ?? []).length > 0);
    const sizes = sizeCandidates(hints, ["minProperties", "maxProperties"]);
    const sized = sizes.map((size) => [...new Set([...required, ...filled])].slice(0, size));
    const bases = [
      ...sized.map((names) => build(names, columns)),
      ...variantsOf(own.mine).map((names) => build([...names], columns)),
      build([...required], columns),
      build(declared, columns),
      {},
    ];
    const objects: Record<string, unknown>[] = [...bases];
    for (const base of bases) {
      for (const key of keys) {
        const { [key]: _, ...without } = base;
        objects.push(without);
        for (const value of columns.get(key) ?? []) objects.push({ ...base, [key]: value });
      }
    }
    return [...objects, ...discriminated(objects, columns, hints)];
  }
}

interface Hints {
  readonly mine: readonly SchemaObject[];
  readonly theirs: readonly SchemaObject[];
}

// Each branch of a union by itself: the properties of one branch with a const of another fit neither.
function variantsOf(hints: readonly SchemaObject[]): Set<string>[] {
  return hints
    .filter((hint) => isSchemaObject(hint.properties))
    .flatMap((hint) => {
      const required = Array.isArray(hint.required) ? (hint.required as string[]) : [];
      return [new Set(required), new Set(Object.keys(hint.properties as object))];
    });
}

function discriminated(
  objects: readonly Record<string, unknown>[],
  columns: ReadonlyMap<string, readonly unknown[]>,
  hints: readonly SchemaObject[],
): Record<string, unknown>[] {
  return hints.flatMap(({ properties, required }) => {
    if (!isSchemaObject(properties)) return [];
    const consts = Object.entries(properties).filter(([, schema]) => isSchemaObject(schema) && "const" in schema);
    const fixed = Object.fromEntries(consts.map(([key, schema]) => [key, (schema as SchemaObject).const]));
    if (consts.length === 0) return [];
    const names = [...new Set([...Object.keys(properties), ...((required as string[] | undefined) ?? [])])];
    const base = { ...build(names, columns), ...fixed };
    const single = names.flatMap((key) =>
      (columns.get(key) ?? []).slice(0, 12).map((value) => ({ ...base, [key]: value, ...fixed })),
    );
    return [base, ...single, ...objects.slice(0, 40).map((object) => ({ ...object, ...fixed }))];
  });
}

function build(keys: readonly string[], columns: ReadonlyMap<string, readonly unknown[]>): Record<string, unknown> {
  const entries = keys.flatMap((key) => {
    const column = columns.get(key) ?? [];
    return column.length === 0 ? [] : [[key, column.at(-1)] as const];
  });
  return Object.fromEntries(entries);
}

function keyCandidates(hints: readonly SchemaObject[]): string[] {
  const named = hints.flatMap((hint) => (isSchemaObject(hint.properties) ? Object.keys(hint.properties) : []));
  const required = hints.flatMap((hint) => (Array.isArray(hint.required) ? (hint.required as string[]) : []));
  const patterns = hints.flatMap((hint) =>
    isSchemaObject(hint.patternProperties) ? Object.keys(hint.patternProperties).flatMap(patternSamples) : [],
  );
  const names = hints.flatMap((hint) =>
    isSchemaObject(hint.propertyNames)
      ? scalarCandidates([hint.propertyNames]).filter((name) => typeof name === "string")
      : [],
  );
  return [...new Set([...named, ...required, ...patterns, ...names.slice(0, 12), "extraKey", "x", "z", "abcd"])].slice(
    0,
    80,
  );
}

function underKey(hint: SchemaObject, key: string): unknown[] {
  const properties = isSchemaObject(hint.properties) ? hint.properties : {};
  const matching = Object.entries(isSchemaObject(hint.patternProperties) ? hint.patternProperties : {})
    .filter(([source]) => new RegExp(source, "u").test(key))
    .map(([, schema]) => schema);
  const own = Object.hasOwn(properties, key) ? [properties[key], ...matching] : matching;
  if (own.length > 0) return own;
  // `false` would say that no value is worth trying; the whole object is judged anyway.
  return isSchemaObject(hint.additionalProperties) ? [hint.additionalProperties] : [];
}

function speaksOf(hint: SchemaObject, type: "object" | "array"): boolean {
  const types = Array.isArray(hint.type) ? hint.type : hint.type === undefined ? [] : [hint.type];
  if (types.includes(type)) return true;
  const keywords =
    type === "object" ? ["properties", "required", "patternProperties"] : ["items", "prefixItems", "contains"];
  return keywords.some((keyword) => keyword in hint);
}
