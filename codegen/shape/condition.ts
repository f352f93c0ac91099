/** The tests of `if` that a type can follow. */
import { isAnnotation, isSchemaObject } from "../schema.js";

/** `{ properties: { <key>: { const | enum } }, required?: [<key>] }`. */
export interface Condition {
  readonly key: string;
  readonly values: readonly unknown[];
  /** Whether an absent property fails the test. */
  readonly required: boolean;
}

/** Reads an `if`; `undefined` when it asks for more than one property's listed values. */
export function conditionOf(schema: unknown): Condition | undefined {
  if (!isSchemaObject(schema)) return undefined;
  const keys = Object.keys(schema).filter((key) => !isAnnotation(key));
  if (
    !keys.every((key) => key === "properties" || key === "required" || (key === "type" && schema.type === "object"))
  ) {
    return undefined;
  }
  const entries = Object.entries(isSchemaObject(schema.properties) ? schema.properties : {});
  const [key, test] = entries[0] ?? [];
  if (entries.length !== 1 || key === undefined || !isSchemaObject(test)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  if (required.some((name) => name !== key)) return undefined;
  const tests = Object.keys(test).filter((keyword) => !isAnnotation(keyword));
  if (tests.length !== 1) return undefined;
  const values = Array.isArray(test.enum) ? test.enum : "const" in test ? [test.const] : undefined;
  return values === undefined ? undefined : { key, values, required: required.length > 0 };
}
