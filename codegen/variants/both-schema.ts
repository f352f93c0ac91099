/**
 * Both sides in one schema: the publish schema, and which of its closings count at publish only. Compiled once, with the
 * side as a parameter, it takes half the time and half the code of two.
 */
import type { Bundle } from "../bundle.js";
import type { SchemaObject } from "../schema.js";
import { deliverRewriter } from "./deliver-schema.js";
import { publishRewriter } from "./publish-schema.js";
import { rewriteBundle } from "./variant.js";

/** The keywords that close an object. */
export const closingKeywords = ["additionalProperties", "unevaluatedProperties"] as const;

/** One schema for both sides. */
export interface BothSchema {
  readonly schema: unknown;
  /** The schemas in it whose closing keyword the deliver side does not have. */
  readonly publishOnly: Readonly<Record<(typeof closingKeywords)[number], ReadonlySet<unknown>>>;
}

/**
 * The schema for both sides, or `undefined` where they differ in more: what counts as evaluated depends on the side, so
 * `unevaluatedProperties` must not be asked at delivery.
 */
export function bothSchema(bundle: Bundle): BothSchema | undefined {
  const publish = publishRewriter(bundle);
  const deliver = deliverRewriter(bundle);
  const publishOnly = { additionalProperties: new Set<unknown>(), unevaluatedProperties: new Set<unknown>() };
  let apart = false;
  const schema = rewriteBundle(bundle, {
    ...publish,
    finish(result, original, mode) {
      const delivered: SchemaObject = { ...result };
      deliver.finish(delivered, original, mode === "test" ? "test" : "open");
      publish.finish(result, original, mode);
      if ("unevaluatedProperties" in delivered) apart = true;
      for (const keyword of closingKeywords) {
        if (result[keyword] === false && !(keyword in delivered)) publishOnly[keyword].add(result);
      }
    },
  });
  return apart ? undefined : { schema, publishOnly };
}
