/** For a union, only the branch that was meant: the one whose const or enum properties the message has. */
import { listed } from "./expectation.js";
import { nearest } from "./nearest.js";
import type { ValidationError } from "./queue.js";
import { isObject, partsAt, partsOf, type SchemaPart, type SchemaRoot } from "./schema-walk.js";

/** What a union's failure comes down to. */
export type BranchFault =
  /** An error of ajv's inside the branch that was meant. */
  | { readonly error: ValidationError }
  /** The property that tells the branches apart has a value of none of them. */
  | { readonly pointer: string; readonly expected: string; readonly didYouMean?: string };

/** The fault inside the branch that the message meant; `undefined` when no branch stands out. */
export function branchFault(of: {
  root: SchemaRoot;
  union: ValidationError;
  errors: readonly ValidationError[];
  value: unknown;
}): BranchFault | undefined {
  const { union, value } = of;
  for (const { schema, place } of partsAt(of.root, union.instancePath)) {
    const list = schema[union.keyword];
    if (!Array.isArray(list)) continue;
    const branches = list.map((branch, index) => partsOf(of.root, branch, `${place}/${union.keyword}/${index}`, false));
    const meant = branches.filter((branch) => fits(branch, value));
    if (meant.length === 1) return insideBranch(of, meant[0] as SchemaPart[]);
    if (meant.length === 0) return untold(union, branches, value);
  }
  return undefined;
}

// The tag of a branch is a property with a const or an enum. A branch for another type was not meant either.
function fits(branch: readonly SchemaPart[], value: unknown): boolean {
  return branch.every(({ schema }) => {
    if (schema.type !== undefined && ![schema.type].flat().includes(typeName(value))) return false;
    if (!isObject(schema.properties) || !isObject(value)) return true;
    return Object.entries(schema.properties).every(([key, property]) => {
      const allowed = tagValues(property);
      return allowed === undefined || !Object.hasOwn(value, key) || allowed.includes(value[key]);
    });
  });
}

function insideBranch(of: Parameters<typeof branchFault>[0], branch: readonly SchemaPart[]): BranchFault | undefined {
  const { union, errors, value } = of;
  const path = union.instancePath;
  const keys = new Set(
    branch.flatMap(({ schema }) => (isObject(schema.properties) ? Object.keys(schema.properties) : [])),
  );
  const required = new Set(branch.flatMap(({ schema }) => (schema.required as string[] | undefined) ?? []));
  // Every branch left its first error; the one that speaks of what this branch declares is this branch's.
  const own = errors.filter((error) => error !== union && error.instancePath.startsWith(path));
  const missing = [...required].find((key) => isObject(value) && !Object.hasOwn(value, key));
  if (missing !== undefined) {
    return { error: { ...union, keyword: "required", params: { missingProperty: missing } } };
  }
  const deeper = own.find((error) => {
    const key = error.instancePath.slice(path.length).split("/")[1];
    return key !== undefined && keys.has(key) && !["const", "enum"].includes(error.keyword);
  });
  if (deeper !== undefined) return { error: deeper };
  const extra = own.find(({ keyword, params, instancePath }) => {
    const key = params.additionalProperty ?? params.unevaluatedProperty;
    return instancePath === path && /Properties$/.test(keyword) && typeof key === "string" && !keys.has(key);
  });
  if (extra !== undefined) return { error: extra };
  const scalar = own.filter(({ keyword }) => keyword !== "type").find(({ instancePath }) => instancePath === path);
  return scalar === undefined ? undefined : { error: scalar };
}

function untold(union: ValidationError, branches: readonly SchemaPart[][], value: unknown): BranchFault | undefined {
  if (!isObject(value)) {
    const types = branches.flatMap((branch) => branch.flatMap(({ schema }) => schema.type ?? []));
    const names = [...new Set(types)].map(String);
    return names.length === 0 ? undefined : { pointer: union.instancePath, expected: names.join(" or ") };
  }
  const tags = branches.map((branch) =>
    branch.flatMap(({ schema }) => (isObject(schema.properties) ? Object.entries(schema.properties) : [])),
  );
  const key = tags[0]?.find(([name, property]) => tagValues(property) !== undefined && Object.hasOwn(value, name))?.[0];
  if (key === undefined) return undefined;
  const allowed = tags.flatMap((entries) =>
    entries.filter(([name]) => name === key).flatMap(([, property]) => tagValues(property) ?? []),
  );
  const found = value[key];
  const [didYouMean] =
    typeof found === "string"
      ? nearest(
          found,
          allowed.filter((item) => typeof item === "string"),
        )
      : [];
  const pointer = `${union.instancePath}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return { pointer, expected: listed(allowed), ...(didYouMean === undefined ? {} : { didYouMean }) };
}

function tagValues(property: unknown): readonly unknown[] | undefined {
  if (!isObject(property)) return undefined;
  if ("const" in property) return [property.const];
  return Array.isArray(property.enum) ? property.enum : undefined;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
