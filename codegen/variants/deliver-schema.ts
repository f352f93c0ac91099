/**
 * The deliver side: as written, but closed objects are open, so that optional properties can come and go while old and new
 * nodes run side by side. What stays closed: objects whose type has an index signature (an unknown key would contradict it),
 * and closed objects without any property. Tests (`if`, `not`, `contains`, `propertyNames`) stay as they are.
 *
 * `oneOf` stays `oneOf`: codegen refuses object branches that are not told apart by what they require, and opening them
 * cannot make those overlap.
 */
import type { Bundle } from "../bundle.js";
import type { SchemaObject, Subschema } from "../schema.js";
import { declaresProperties, hasEntries, type Rewriter, rewriteBundle } from "./variant.js";

export type DeliverMode = "open" | "test";

/** The schema that the deliver validator is compiled from. */
export function deliverSchema(bundle: Bundle): unknown {
  return rewriteBundle(bundle, deliverRewriter(bundle));
}

/** How the schemas of a bundle become lenient. */
export function deliverRewriter(bundle: Bundle): Rewriter<DeliverMode> {
  return { first: "open", modeOf, finish };

  function finish(result: Record<string, unknown>, original: SchemaObject, mode: DeliverMode): void {
    if (mode === "test" || "patternProperties" in original) return;
    if (original.additionalProperties === false && hasEntries(original.properties)) delete result.additionalProperties;
    if (original.unevaluatedProperties === false && declaresProperties(original, bundle) && !holdsPatterns(original)) {
      delete result.unevaluatedProperties;
    }
  }

  function holdsPatterns(schema: SchemaObject): boolean {
    // Looking at the text is coarse, but only ever keeps an object closed.
    return JSON.stringify([schema, ...bundle.definitions.values()]).includes('"patternProperties"');
  }
}

function modeOf(sub: Pick<Subschema, "keyword" | "role">, _schema: SchemaObject, mode: DeliverMode): DeliverMode {
  return mode === "test" || sub.role === "test" ? "test" : "open";
}
