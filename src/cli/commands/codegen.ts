/** `postrider codegen`: schemas in, typed publishers and handlers out. */
import { Command } from "commander";
import type { GenerateResult } from "../../../codegen/generate.js";
import type { CodegenError, Problem } from "../../../codegen/problem.js";

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
    .option("--json", "print one JSON object per run instead of text")
    .option("--schemas <folder>", "where the schema files are", "schemas")
    .option("--out <folder>", "where the generated files go", "generated")
    .action(run);
}

async function run(flags: CodegenFlags): Promise<void> {
  const { generate, watchSchemas, CodegenError, printer } = await loadGenerator(flags);
  const options = { schemas: flags.schemas, out: flags.out, check: flags.check === true };
  if (flags.watch === true && flags.check !== true) {
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    await watchSchemas({ ...options, signal: stop.signal }, printer);
    return;
  }
  try {
    printer.written(await generate(options));
  } catch (error) {
    if (!(error instanceof CodegenError)) throw error;
    printer.refused(error);
    process.exitCode = 1;
  }
}

/** What the generator is made of: optional peers, which an image that only runs the queue does not install. */
const packages = ["ts-morph", "json-schema-to-typescript", "redos-detector"];

async function loadGenerator(flags: CodegenFlags) {
  // Looked for before anything is loaded: not every run gets as far as each of them.
  const missing = packages.find((name) => !isInstalled(name));
  if (missing !== undefined) {
    throw new Error(`codegen needs ${missing}: npm install --save-dev ${packages.join(" ")}`);
  }
  const [{ generate }, { watchSchemas }, { CodegenError, problemText }] = await Promise.all([
    import("../../../codegen/generate.js"),
    import("../../../codegen/watch.js"),
    import("../../../codegen/problem.js"),
  ]);
  return { generate, watchSchemas, CodegenError, printer: runPrinter(flags, problemText) };
}

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== "";
  } catch {
    return false;
  }
}

function runPrinter(flags: CodegenFlags, textOf: (problem: Problem) => string) {
  const started = performance.now();
  return {
    written(result: GenerateResult): void {
      const fresh = result.missing.length + result.stale.length + result.orphan.length === 0;
      const ok = flags.check !== true || fresh;
      if (flags.json === true) print(JSON.stringify({ ok, ...result }));
      else for (const line of summary(result, flags, textOf)) print(line);
      if (flags.json !== true && flags.watch !== true) print(`(${Math.round(performance.now() - started)} ms)`);
      if (!ok) process.exitCode = 1;
    },
    refused({ problems }: CodegenError): void {
      if (flags.json === true) {
        print(JSON.stringify({ ok: false, problems }));
        return;
      }
      const end = `${counted(problems.length, "error")}; nothing was written`;
      process.stderr.write(`${problems.map(textOf).join("\n")}\n${end}\n`);
    },
  };
}

function summary(result: GenerateResult, flags: CodegenFlags, textOf: (problem: Problem) => string): string[] {
  const lines = result.remarks.map(textOf);
  const written = [...result.missing, ...result.stale];
  if (flags.check !== true) {
    const removed = result.orphan.length > 0 ? `, ${result.orphan.length} removed` : "";
    if (flags.watch === true) lines.push(...written.map((path) => `wrote ${flags.out}/${path}`));
    return [
      ...lines,
      `${counted(result.queues, "queue")}: ${written.length} written, ${result.unchanged} unchanged${removed}`,
    ];
  }
  for (const kind of ["missing", "stale", "orphan"] as const) {
    for (const path of result[kind]) {
      lines.push(
        `${kind}  ${flags.out}/${path}`,
        ...(result.firstDifferences[path] ?? []).map((line) => `    ${line}`),
      );
    }
  }
  const fresh = written.length + result.orphan.length === 0;
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
