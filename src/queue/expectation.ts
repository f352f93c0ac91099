/** What a keyword of JSON Schema asks for, in words. */
import type { ValidationError } from "./queue.js";

/** The words after "expected". */
export function expectation({ keyword, params }: ValidationError, value: unknown): string {
  switch (keyword) {
    case "type":
      return Array.isArray(params.type) ? params.type.join(" or ") : String(params.type);
    case "const":
      return JSON.stringify(params.allowedValue);
    case "enum":
      return listed(params.allowedValues);
    case "format":
      return `a string in the format ${String(params.format)}`;
    case "pattern":
      return `a string that matches ${String(params.pattern)}`;
    case "minLength":
      return `at least ${plural(params.limit, "character")}`;
    case "maxLength":
      return `at most ${plural(params.limit, "character")}${typeof value === "string" ? ` (it has ${[...value].length})` : ""}`;
    case "minItems":
      return `at least ${plural(params.limit, "item")}`;
    case "maxItems":
    case "items":
      return `at most ${plural(params.limit ?? params.len, "item")}`;
    case "minProperties":
      return `at least ${plural(params.limit, "property", "properties")}`;
    case "maxProperties":
      return `at most ${plural(params.limit, "property", "properties")}`;
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return `a number ${String(params.comparison)} ${String(params.limit)}`;
    case "multipleOf":
      return `a multiple of ${String(params.multipleOf)}`;
    case "uniqueItems":
      return `no repeats (items ${String(params.j)} and ${String(params.i)} are equal)`;
    case "contains":
      return "an item that fits `contains`";
    case "false schema":
      return "no value here";
    case "not":
      return "a value that `not` does not exclude";
    default:
      return `a value that fits ${keyword}`;
  }
}

/** A list of allowed values, shortened. */
export function listed(values: unknown): string {
  const list = Array.isArray(values) ? values : [values];
  const shown = list.slice(0, 12).map((value) => JSON.stringify(value));
  const more = list.length > shown.length ? [`… (${list.length} in all)`] : [];
  return list.length === 1 ? String(shown[0]) : `one of ${[...shown, ...more].join(", ")}`;
}

function plural(count: unknown, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}
