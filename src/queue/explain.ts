/**
 * Why a message was refused, in words: where, what was expected, what was found. Values under a `redact` pointer are never
 * shown, whatever was wrong with them.
 */

import { expectation } from "./expectation.js";
import { nearest } from "./nearest.js";
import { escapedPart, valueAt } from "./pointer.js";
import type { QueueDefinition, ValidationError } from "./queue.js";
import { isRedacted } from "./redact.js";
import { isObject, partsAt, type SchemaRoot } from "./schema-walk.js";
import { branchFault } from "./union-branch.js";

/** One refusal, as fields and as a sentence. */
export interface Explanation {
  /** JSON Pointer into the message; "" is the message itself. */
  readonly pointer: string;
  readonly expected: string;
  /** The value found, shortened; `(redacted)` where the queue says so. */
  readonly found: string;
  /** A word the author may have meant. */
  readonly didYouMean?: string;
  /** The place in the schema that asks for it: a schema file and a JSON Pointer. Absent for a queue made at run time. */
  readonly source?: string;
  /** `pointer: expected …, found …`, ready for an error message. */
  readonly text: string;
}

/** Explains why a validator refused a message, from the errors it left. */
export function explain(
  definition: QueueDefinition,
  errors: readonly ValidationError[],
  message: unknown,
): Explanation {
  const root: SchemaRoot = { document: definition.schema, source: definition.source ?? "" };
  return explanation(definition, message, inWords(root, innermost(root, errors, message), message));
}

// With first-error validators the last error is the outermost: a union's or a condition's own, after those inside it.
function innermost(root: SchemaRoot, errors: readonly ValidationError[], message: unknown): ValidationError | Fault {
  const last = errors.at(-1);
  if (last === undefined) return { pointer: "", expected: "a valid message" };
  if (last.keyword === "if" && errors.length > 1) return innermost(root, errors.slice(0, -1), message);
  if (last.keyword !== "anyOf" && last.keyword !== "oneOf") return last;
  if (Array.isArray(last.params.passingSchemas)) {
    return { pointer: last.instancePath, expected: "a value that fits one variant and not several" };
  }
  const value = valueAt(message, last.instancePath);
  const fault = branchFault({ root, union: last, errors, value });
  if (fault === undefined) return { pointer: last.instancePath, expected: "a value that fits one of the variants" };
  if (!("error" in fault)) return fault;
  const inner = errors.indexOf(fault.error);
  return inner < 0 ? fault.error : innermost(root, errors.slice(0, inner + 1), message);
}

/** A fault before it is put into words. */
interface Fault {
  readonly pointer: string;
  readonly expected: string;
  readonly didYouMean?: string;
  /** Nothing is there to be shown: a missing property. */
  readonly absent?: boolean;
}

function inWords(root: SchemaRoot, found: ValidationError | Fault, message: unknown): Fault {
  if (!("keyword" in found)) return found;
  const fault = faultOf(found, message);
  const word = misspelt(found, message);
  if (word === undefined) return fault;
  const [didYouMean] = nearest(word, knownWords(root, found));
  return didYouMean === undefined ? fault : { ...fault, didYouMean };
}

function misspelt({ keyword, params, instancePath }: ValidationError, message: unknown): string | undefined {
  const key = params.additionalProperty ?? params.unevaluatedProperty;
  if (typeof key === "string") return key;
  const value = keyword === "enum" || keyword === "const" ? valueAt(message, instancePath) : undefined;
  return typeof value === "string" ? value : undefined;
}

function knownWords(root: SchemaRoot, { keyword, params, instancePath }: ValidationError): string[] {
  const values = keyword === "enum" ? params.allowedValues : keyword === "const" ? [params.allowedValue] : undefined;
  if (Array.isArray(values)) return values.filter((value) => typeof value === "string");
  return partsAt(root, instancePath).flatMap(({ schema }) =>
    isObject(schema.properties) ? Object.keys(schema.properties) : [],
  );
}

/** What one ajv error says. A missing or an extra property is the place, not the object around it. */
function faultOf(error: ValidationError, message: unknown): Fault {
  const { instancePath, keyword, params } = error;
  const owner = valueAt(message, instancePath);
  if (keyword === "required" || keyword === "dependentRequired" || keyword === "dependencies") {
    const missing = String(params.missingProperty);
    const pointer = `${instancePath}/${escapedPart(missing)}`;
    return { pointer, expected: `the property ${quoted(missing)}`, absent: true };
  }
  if (keyword === "additionalProperties" || keyword === "unevaluatedProperties") {
    const extra = String(params.additionalProperty ?? params.unevaluatedProperty);
    return { pointer: `${instancePath}/${escapedPart(extra)}`, expected: "no such property" };
  }
  if (keyword === "propertyNames") {
    const name = String(params.propertyName);
    return { pointer: `${instancePath}/${escapedPart(name)}`, expected: "another property name" };
  }
  return { pointer: instancePath, expected: expectation(error, owner) };
}

function explanation(definition: QueueDefinition, message: unknown, fault: Fault): Explanation {
  const { pointer, expected, didYouMean } = fault;
  const found = foundText(definition, message, fault);
  const place = pointer === "" ? "the message" : pointer;
  const hint = didYouMean === undefined ? "" : `; did you mean ${quoted(didYouMean)}?`;
  const asked = definition.source === undefined ? undefined : placeOf(definition, definition.source, pointer);
  const source = asked === undefined ? {} : { source: asked };
  const where = asked === undefined ? "" : ` (${asked})`;
  return {
    pointer,
    expected,
    found,
    ...(didYouMean === undefined ? {} : { didYouMean }),
    ...source,
    text: `${place}: expected ${expected}, found ${found}${hint}${where}`,
  };
}

// The deepest part of the schema that speaks of the place; for an unknown property that is the object around it.
function placeOf(definition: QueueDefinition, source: string, pointer: string): string {
  const root: SchemaRoot = { document: definition.schema, source };
  for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    const [part] = partsAt(root, at);
    if (part !== undefined) return part.place;
  }
  return `${source}#`;
}

const maxShown = 80;

function foundText(definition: QueueDefinition, message: unknown, fault: Fault): string {
  if (fault.absent === true) return "nothing";
  const { redact } = definition.settings;
  if (isRedacted(fault.pointer, redact)) return "(redacted)";
  const value = valueAt(message, fault.pointer);
  // An object around a redacted value would show it.
  if (typeof value === "object" && value !== null && redact.length > 0) {
    return Array.isArray(value) ? `an array of ${value.length}` : "an object";
  }
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}… (${text.length} characters)` : text;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
