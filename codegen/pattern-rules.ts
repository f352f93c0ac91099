/** Patterns: they must compile as ajv compiles them, and must not take for ever on a hostile string. */
import { isSafePattern } from "redos-detector";
import type { Visit } from "./profile.js";
import { isSchemaObject } from "./schema.js";

/** Steps, not time: the answer must not depend on the machine. */
const limits = { unicode: true, maxScore: 200, maxSteps: 5_000, timeout: Number.POSITIVE_INFINITY } as const;

const maxPatternLength = 1_000;

const judged = new Map<string, { rule: string; message: string; hint?: string } | undefined>();

/** Checks `pattern` and the keys of `patternProperties`. */
export function patternRule({ schema, refuse }: Visit): void {
  if (typeof schema.pattern === "string") {
    const fault = patternFault(schema.pattern);
    if (fault !== undefined) refuse("pattern", fault);
  }
  if (!isSchemaObject(schema.patternProperties)) return;
  for (const source of Object.keys(schema.patternProperties)) {
    const fault = patternFault(source);
    if (fault !== undefined) refuse(["patternProperties", source], fault);
  }
}

function patternFault(source: string): { rule: string; message: string; hint?: string } | undefined {
  if (!judged.has(source)) judged.set(source, judge(source));
  return judged.get(source);
}

function judge(source: string): { rule: string; message: string; hint?: string } | undefined {
  if (source.length > maxPatternLength) {
    return { rule: "too-large", message: `a pattern of ${source.length} characters; at most ${maxPatternLength}` };
  }
  try {
    new RegExp(source, "u");
  } catch (error) {
    const message = `${error instanceof Error ? error.message : String(error)} (patterns are read with the u flag)`;
    return { rule: "pattern-invalid", message };
  }
  if (isSafePattern(source, limits).safe) return undefined;
  return {
    rule: "pattern-slow",
    message: `matching ${JSON.stringify(source)} may take for ever on a hostile string`,
    hint: "avoid repeats inside repeats and neighbours that match the same characters",
  };
}
