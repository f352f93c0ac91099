/** What a target schema asks of each JSON type, and whether a conjunction is proven to give it. */
import { canonicalJson } from "../bundle.js";
import { isSchemaObject, type SchemaObject } from "../schema.js";
import {
  boundOf,
  itemOf,
  keysOf,
  patternsOf,
  prefixLength,
  propertyOf,
  requiredOf,
  restOf,
  tupleOf,
} from "./conjunction.js";
import type { Inclusion } from "./inclusion.js";

type Parts = readonly SchemaObject[];

/** Bounds and multiples. */
export function numberIncluded(parts: Parts, wanted: SchemaObject, type: "number" | "integer"): boolean {
  const whole = type === "integer" || parts.some((part) => part.type === "integer");
  const mine = numberRange(parts, whole);
  const theirs = numberRange([wanted], whole);
  if (below(mine.low, theirs.low, mine.lowOpen, theirs.lowOpen)) return false;
  if (below(-mine.high, -theirs.high, mine.highOpen, theirs.highOpen)) return false;
  const { multipleOf } = wanted;
  if (typeof multipleOf !== "number") return true;
  const steps = [...parts.map((part) => part.multipleOf), ...(whole ? [1] : [])];
  return steps.some((step) => typeof step === "number" && Number.isInteger(step / multipleOf));
}

interface Range {
  readonly low: number;
  readonly high: number;
  readonly lowOpen: boolean;
  readonly highOpen: boolean;
}

function numberRange(parts: Parts, whole: boolean): Range {
  const low = lowerEnd(boundOf(parts, "minimum", "max"), boundOf(parts, "exclusiveMinimum", "max"), whole);
  const negated = (keyword: string) => {
    const bound = boundOf(parts, keyword, "min");
    return bound === undefined ? undefined : -bound;
  };
  const high = lowerEnd(negated("maximum"), negated("exclusiveMaximum"), whole);
  return { low: low.end, lowOpen: low.open, high: -high.end, highOpen: high.open };
}

// For whole numbers "above 0" and "at least 1" are the same.
function lowerEnd(
  closed: number | undefined,
  open: number | undefined,
  whole: boolean,
): { end: number; open: boolean } {
  if (whole) {
    const ends = [
      closed === undefined ? -Infinity : Math.ceil(closed),
      open === undefined ? -Infinity : Math.floor(open) + 1,
    ];
    return { end: Math.max(...ends), open: false };
  }
  if (open !== undefined && open >= (closed ?? -Infinity)) return { end: open, open: true };
  return { end: closed ?? -Infinity, open: false };
}

function below(mine: number, theirs: number, mineOpen: boolean, theirsOpen: boolean): boolean {
  return mine < theirs || (mine === theirs && theirsOpen && !mineOpen && theirs !== -Infinity);
}

/** Lengths, and pattern and format where they are the same. */
export function stringIncluded(parts: Parts, wanted: SchemaObject): boolean {
  if (typeof wanted.minLength === "number" && (boundOf(parts, "minLength", "max") ?? 0) < wanted.minLength)
    return false;
  if (typeof wanted.maxLength === "number" && (boundOf(parts, "maxLength", "min") ?? Infinity) > wanted.maxLength)
    return false;
  return ["pattern", "format"].every(
    (keyword) => wanted[keyword] === undefined || parts.some((part) => part[keyword] === wanted[keyword]),
  );
}

/** Positions, rest, length, uniqueness and `contains`. */
export function arrayIncluded(parts: Parts, wanted: SchemaObject, inclusion: Inclusion): boolean {
  const { prefix, rest } = tupleOf(wanted);
  const own = prefixLength(parts);
  const max = Math.min(boundOf(parts, "maxItems", "min") ?? Infinity, closedLength(parts, own));
  const min = boundOf(parts, "minItems", "max") ?? 0;
  if (typeof wanted.minItems === "number" && min < wanted.minItems) return false;
  if (typeof wanted.maxItems === "number" && max > wanted.maxItems) return false;
  if (wanted.uniqueItems === true && max > 1 && !parts.some((part) => part.uniqueItems === true)) return false;
  if (wanted.contains !== undefined && !parts.some((part) => sameContains(part, wanted))) return false;
  const positions = Math.min(Math.max(own, prefix.length), max);
  for (let index = 0; index < positions; index += 1) {
    if (!inclusion.included(itemOf(parts, index), prefix[index] ?? rest)) return false;
  }
  return positions >= max || inclusion.included(itemOf(parts, Infinity), rest);
}

function closedLength(parts: Parts, own: number): number {
  const lengths = parts.map(tupleOf).flatMap(({ prefix, rest }) => (rest === false ? [prefix.length] : []));
  return lengths.length === 0 ? Infinity : Math.min(own, ...lengths);
}

function sameContains(part: SchemaObject, wanted: SchemaObject): boolean {
  return ["contains", "minContains", "maxContains"].every((keyword) => same(part[keyword], wanted[keyword]));
}

function same(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}

/** Required keys, their values, further keys, names and counts. */
export function objectIncluded(parts: Parts, wanted: SchemaObject, inclusion: Inclusion): boolean {
  const required = requiredOf(parts);
  if (!requiredOf([wanted]).every((key) => required.includes(key))) return false;
  if (!countsIncluded(parts, wanted, required)) return false;
  if (!namesIncluded(parts, wanted, inclusion)) return false;
  if (!dependenciesIncluded(parts, wanted, required)) return false;
  const properties = isSchemaObject(wanted.properties) ? wanted.properties : {};
  const keys = new Set([...keysOf(parts), ...Object.keys(properties), ...required]);
  for (const key of keys) {
    const targets = propertyOf([wanted], key);
    if (!targets.every((target) => inclusion.included(propertyOf(parts, key), target))) return false;
  }
  return furtherKeysIncluded(parts, wanted, inclusion);
}

// Keys that only a pattern or the rest of `parts` lets through.
function furtherKeysIncluded(parts: Parts, wanted: SchemaObject, inclusion: Inclusion): boolean {
  const own = parts.flatMap(patternsOf);
  const targets = [...patternsOf(wanted).map(([, schema]) => schema), ...restOf([wanted])];
  for (const [source, schema] of own) {
    const twin = patternsOf(wanted).find(([other]) => other === source);
    if (
      twin !== undefined
        ? !inclusion.included([schema], twin[1])
        : !targets.every((target) => inclusion.included([schema], target))
    ) {
      return false;
    }
  }
  return targets.every((target) => inclusion.included(restOf(parts), target));
}

function countsIncluded(parts: Parts, wanted: SchemaObject, required: readonly string[]): boolean {
  const least = Math.max(boundOf(parts, "minProperties", "max") ?? 0, required.length);
  if (typeof wanted.minProperties === "number" && least < wanted.minProperties) return false;
  const closed = restOf(parts).includes(false) && parts.every((part) => patternsOf(part).length === 0);
  const most = Math.min(boundOf(parts, "maxProperties", "min") ?? Infinity, closed ? keysOf(parts).length : Infinity);
  return typeof wanted.maxProperties !== "number" || most <= wanted.maxProperties;
}

function namesIncluded(parts: Parts, wanted: SchemaObject, inclusion: Inclusion): boolean {
  if (wanted.propertyNames === undefined) return true;
  if (restOf(parts).includes(false) && parts.every((part) => patternsOf(part).length === 0)) {
    return keysOf(parts).every((key) => inclusion.sup.accepts([wanted.propertyNames], key));
  }
  const own = parts.flatMap((part) => (part.propertyNames === undefined ? [] : [part.propertyNames]));
  return inclusion.included([{ type: "string" }, ...own], wanted.propertyNames);
}

function dependenciesIncluded(parts: Parts, wanted: SchemaObject, required: readonly string[]): boolean {
  const asked = isSchemaObject(wanted.dependentRequired) ? wanted.dependentRequired : {};
  return Object.entries(asked).every(([key, names]) => {
    if (propertyOf(parts, key).includes(false)) return true;
    const given = parts.flatMap((part) => {
      const own = isSchemaObject(part.dependentRequired) ? part.dependentRequired[key] : undefined;
      return Array.isArray(own) ? (own as string[]) : [];
    });
    return (names as string[]).every((name) => required.includes(name) || given.includes(name));
  });
}
