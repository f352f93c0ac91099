/** `postrider codegen`: schemas in, typed publishers and handlers out. */
import { Command } from "commander";
import type { GenerateResult } from "../../../codegen/generate.js";
import type { Problem } from "../../../codegen/problem.js";

interface CodegenFlags {
  readonly check?: boolean;
  readonly watch?: boolean;
  readonly json?: boolean;
  readonly schemas: string;
  readonly out: string;
}

/** The command. The generator's packages are heavy and optional, so they are loaded when it runs. */
export function codegenCommand(): Command {
  return new Command("codegen")
    .description("Make typed publishers and handlers from the schema files.")
    .option("--check", "write nothing; exit 1 when the output is missing, stale or orphaned")
    .option("--watch", "run again whenever a schema file changes; keeps the last good output on errors")
    .option("--json", "print one JSON object instead of text")
    .option("--schemas <folder>", "where the schema files are", "schemas")
    .option("--out <folder>", "where the generated files go", "generated")
    .action(run);
}

async function run(flags: CodegenFlags): Promise<void> {
  const { CodegenError, problemText } = await import("../../../codegen/problem.js");
  const { generate } = await import("../../../codegen/generate.js");
  const started = performance.now();
  try {
    const result = await generate({ schemas: flags.schemas, out: flags.out, check: flags.check === true });
    const differs = result.missing.length + result.stale.length + result.orphan.length > 0;
    const ok = flags.check !== true || !differs;
    if (flags.json === true) print(JSON.stringify({ ok, ...result }));
    else for (const line of summary(result, flags, performance.now() - started, problemText)) print(line);
    if (!ok) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof CodegenError)) throw error;
    if (flags.json === true) print(JSON.stringify({ ok: false, problems: error.problems }));
    else
      process.stderr.write(
        `${error.problems.map(problemText).join("\n")}\n${counted(error.problems.length, "error")}; nothing was written\n`,
      );
    process.exitCode = 1;
  }
}

function summary(
  result: GenerateResult,
  flags: CodegenFlags,
  ms: number,
  textOf: (problem: Problem) => string,
): string[] {
  const written = result.missing.length + result.stale.length;
  const lines = result.remarks.map(textOf);
  if (flags.check !== true) {
    const removed = result.orphan.length > 0 ? `, ${result.orphan.length} removed` : "";
    const files = `${written} written, ${result.unchanged} unchanged${removed}`;
    return [...lines, `${counted(result.queues, "queue")}: ${files} (${Math.round(ms)} ms)`];
  }
  for (const kind of ["missing", "stale", "orphan"] as const) {
    lines.push(...result[kind].map((path) => `${kind}  ${flags.out}/${path}`));
  }
  const fresh = written + result.orphan.length === 0;
  return [
    ...lines,
    fresh ? `${flags.out} is up to date` : `${flags.out} is not up to date: run \`npx postrider codegen\``,
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
