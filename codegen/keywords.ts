/** The keywords a queue schema may use, and why others may not. */
import type { Dialect } from "./schema.js";

const words = (text: string) => text.split(/\s+/).filter((word) => word !== "");

const both = words(`
  $schema $ref $comment $defs definitions title description default examples deprecated readOnly writeOnly
  type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format
  items maxItems minItems uniqueItems contains maxProperties minProperties required properties patternProperties
  additionalProperties propertyNames allOf anyOf oneOf not if then else contentEncoding contentMediaType x-queue
`);

const allowed: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  "2020-12": new Set([
    ...both,
    ...words("prefixItems minContains maxContains unevaluatedProperties dependentRequired dependentSchemas"),
  ]),
  "draft-07": new Set([...both, ...words("additionalItems dependencies")]),
};

/** The keywords a dialect allows. */
export function allowedKeywords(dialect: Dialect): ReadonlySet<string> {
  return allowed[dialect];
}

/** Keywords that mean something elsewhere, with what to write instead. */
export const refusedKeywords: ReadonlyMap<string, string> = new Map([
  ["$id", "the file's path is its identity; leave $id out and refer by relative path"],
  ["id", "the file's path is its identity; leave id out and refer by relative path"],
  ["$anchor", "refer by JSON Pointer: #/$defs/…"],
  ["$dynamicRef", "use $ref"],
  ["$dynamicAnchor", "use $ref with a JSON Pointer"],
  ["$recursiveRef", "use $ref"],
  ["$recursiveAnchor", "use $ref with a JSON Pointer"],
  ["$vocabulary", "queue schemas use the standard vocabulary"],
  ["nullable", 'write "type": ["…", "null"]'],
  ["tsType", "a type that the validator does not know of would lie"],
  ["tsEnumNames", "the type is a union of the enum's values"],
  ["discriminator", "a required property with a const in every oneOf branch says the same"],
  ["extends", "use allOf with $ref"],
  ["unevaluatedItems", 'use "items": false after prefixItems'],
  ["contentSchema", "no validator looks inside encoded text"],
  ["$async", "messages are validated synchronously"],
]);

/** Which JSON types a keyword speaks of; without one of them it checks nothing. */
export const keywordTypes: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    object: words(`properties required additionalProperties patternProperties propertyNames maxProperties minProperties
      unevaluatedProperties dependentRequired dependentSchemas dependencies`),
    array: words("items prefixItems additionalItems maxItems minItems uniqueItems contains minContains maxContains"),
    string: words("maxLength minLength pattern contentEncoding contentMediaType"),
    number: words("multipleOf maximum exclusiveMaximum minimum exclusiveMinimum"),
  }).flatMap(([type, keywords]) =>
    keywords.map((keyword) => [keyword, type === "number" ? ["number", "integer"] : [type]]),
  ),
);
