/** What codegen has to say about schema files: one rule, one place, one sentence, one hint. */

/** A refusal (`error`) or a remark (`info`). */
export interface Problem {
  readonly severity: "error" | "info";
  /** The schema file, relative to the project, with forward slashes. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The stable id of the rule; the table is in `docs/codegen.md`. */
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
  /** Another file that has a part in it. */
  readonly also?: string;
}

/** By file, line, column and rule, in code units: the same order on every machine. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const seen = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...seen.values()].sort(
    (a, b) =>
      compareText(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column ||
      compareText(a.rule + a.message, b.rule + b.message),
  );
}

/** Order by UTF-16 code unit; `localeCompare` would depend on the machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `file:line:column  rule  sentence`, with the hint below. */
export function problemText(problem: Problem): string {
  const remark = problem.severity === "info" ? "(info) " : "";
  const lines = [`${problem.file}:${problem.line}:${problem.column}  ${problem.rule}  ${remark}${problem.message}`];
  if (problem.also !== undefined) lines.push(`    also: ${problem.also}`);
  if (problem.hint !== undefined) lines.push(`    hint: ${problem.hint}`);
  return lines.join("\n");
}

/** Raised when schemas are refused; carries every problem of every file. */
export class CodegenError extends Error {
  override readonly name = "CodegenError";
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(problemText).join("\n"));
  }
}
