/**
 * Why a message was refused, in words: where, what was expected, what was found. Values under a `redact` pointer are never
 * shown, whatever was wrong with them.
 */

import { expectation } from "./expectation.js";
import type { QueueDefinition, ValidationError } from "./queue.js";
import { isRedacted } from "./redact.js";
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
  /** The schema file, when the queue has one. */
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
  // With first-error validators the last error is the outermost: a union's own, after those of its branches.
  const outermost = errors.at(-1);
  if (outermost === undefined) return explanation(definition, message, { pointer: "", expected: "a valid message" });
  const fault = branchFault({ definition, errors, message }) ?? faultOf(outermost, message);
  return explanation(definition, message, fault);
}

/** A fault before it is put into words. */
export interface Fault {
  readonly pointer: string;
  readonly expected: string;
  readonly didYouMean?: string;
  /** Nothing is there to be shown: a missing property. */
  readonly absent?: boolean;
}

/** What one ajv error says. A missing or an extra property is the place, not the object around it. */
export function faultOf(error: ValidationError, message: unknown): Fault {
  const { instancePath, keyword, params } = error;
  const owner = valueAt(message, instancePath);
  if (keyword === "required" || keyword === "dependentRequired" || keyword === "dependencies") {
    const missing = String(params.missingProperty);
    const pointer = `${instancePath}/${escaped(missing)}`;
    return { pointer, expected: `the property ${quoted(missing)}`, absent: true };
  }
  if (keyword === "additionalProperties" || keyword === "unevaluatedProperties") {
    const extra = String(params.additionalProperty ?? params.unevaluatedProperty);
    return { pointer: `${instancePath}/${escaped(extra)}`, expected: "no such property" };
  }
  if (keyword === "propertyNames") {
    const name = String(params.propertyName);
    return { pointer: `${instancePath}/${escaped(name)}`, expected: "another property name" };
  }
  return { pointer: instancePath, expected: expectation(error, owner) };
}

function explanation(definition: QueueDefinition, message: unknown, fault: Fault): Explanation {
  const { pointer, expected, didYouMean } = fault;
  const found = foundText(definition, message, fault);
  const place = pointer === "" ? "the message" : pointer;
  const hint = didYouMean === undefined ? "" : `; did you mean ${quoted(didYouMean)}?`;
  const source = definition.source === undefined ? {} : { source: definition.source };
  const where = definition.source === undefined ? "" : ` (${definition.source})`;
  return {
    pointer,
    expected,
    found,
    ...(didYouMean === undefined ? {} : { didYouMean }),
    ...source,
    text: `${place}: expected ${expected}, found ${found}${hint}${where}`,
  };
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

function valueAt(root: unknown, pointer: string): unknown {
  let current = root;
  for (const part of pointer.split("/").slice(1)) {
    if (typeof current !== "object" || current === null) return undefined;
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    current = Object.hasOwn(current, key) ? (current as Record<string, unknown>)[key] : undefined;
  }
  return current;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
