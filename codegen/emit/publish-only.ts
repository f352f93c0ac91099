/** Closings that count at publish only, compiled into one validator for both sides: `this` says which side asks. */
import { _, type Ajv, type Code, type CodeKeywordDefinition, type KeywordCxt } from "ajv";
import { type BothSchema, closingKeywords } from "../variants/both-schema.js";

let publishOnly: BothSchema["publishOnly"] | undefined;

/** Says which closings of the schema that is compiled next count at publish only. */
export function notePublishOnly(both: BothSchema): void {
  publishOnly = both.publishOnly;
}

/** Puts the code of the two closing keywords under a condition, where they are to count at publish only. */
export function closeForPublishOnly(ajv: Ajv): void {
  for (const keyword of closingKeywords) {
    // Each instance has its own copy of a definition.
    const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition;
    const { code } = definition;
    definition.code = (context) => {
      if (publishOnly?.[keyword].has(context.parentSchema) === true) underCondition(context, code);
      else code(context);
    };
  }
}

// What ajv nests below a keyword that passed must not end up inside the condition: that it passed is said after it.
function underCondition(context: KeywordCxt, code: CodeKeywordDefinition["code"]): void {
  let passed: Code | boolean | undefined;
  const inner = Object.create(context, { ok: { value: (condition: Code) => (passed = condition) } }) as KeywordCxt;
  context.gen.if(_`this`, () => code(inner));
  if (passed !== undefined) context.ok(passed);
}
