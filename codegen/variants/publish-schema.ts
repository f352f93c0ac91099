/**
 * The publish side: as written, and objects that say nothing about further keys are closed, each composition as a whole.
 *
 * `whole`: a value's full description, closed here. `member`: a part of a composition, closed by the schema around it.
 * `test`: a question (`if`, `not`, `contains`, `propertyNames`), which closing would change.
 */
import type { Bundle } from "../bundle.js";
import type { SchemaObject, Subschema } from "../schema.js";
import { declaresProperties, hasEntries, isComposed, type Rewriter, rewriteBundle } from "./variant.js";

export type PublishMode = "whole" | "member" | "test";

/** The schema that the publish validator is compiled from. */
export function publishSchema(bundle: Bundle): unknown {
  return rewriteBundle(bundle, publishRewriter(bundle));
}

/** How the schemas of a bundle become strict. */
export function publishRewriter(bundle: Bundle): Rewriter<PublishMode> {
  return { first: "whole", modeOf, finish };

  function finish(result: Record<string, unknown>, original: SchemaObject, mode: PublishMode): void {
    if (mode === "test" || "additionalProperties" in original || "unevaluatedProperties" in original) return;
    // A pattern describes some keys of a map; the others may hold anything.
    if ("patternProperties" in original) result.additionalProperties = true;
    else if (mode === "whole" && !isComposed(original)) {
      if (hasEntries(original.properties)) result.additionalProperties = false;
    } else if (mode === "whole" && !closesInParts(original) && declaresProperties(original, bundle)) {
      result.unevaluatedProperties = false;
    }
  }
}

function modeOf(sub: Pick<Subschema, "keyword" | "role">, schema: SchemaObject, mode: PublishMode): PublishMode {
  if (mode === "test" || sub.role === "test") return "test";
  if (sub.role === "part") return "whole";
  return mode === "whole" && closesInParts(schema) ? "whole" : "member";
}

// A reference alone, or a union alone: its parts are whole descriptions themselves, and close themselves more cheaply.
function closesInParts(schema: SchemaObject): boolean {
  const [only, ...more] = Object.keys(schema);
  if (only === undefined || more.length > 0) return false;
  if (only === "allOf") return Array.isArray(schema.allOf) && schema.allOf.length === 1;
  return only === "$ref" || only === "anyOf" || only === "oneOf";
}
