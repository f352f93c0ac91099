/** `postrider check --against <base>`: the compatibility gate. */
import { Command } from "commander";
import type { Earlier } from "../../../codegen/compat/earlier.js";
import type { CompatFinding, CompatReport } from "../../../codegen/compat.js";
import { PostriderError } from "../../errors.js";

interface CheckFlags {
  readonly against: readonly string[];
  readonly databaseUrl?: string;
  readonly schema: string;
  readonly json?: boolean;
  readonly schemas: string;
}

/** The command. Exit codes: 0 compatible; 1 a break, or a schema that is refused; 2 wrong usage. */
export function checkCommand(): Command {
  return new Command("check")
    .description("Compare the schemas with a base and refuse changes that would break messages in flight.")
    .requiredOption("--against <base>", "git:<ref>, a folder of schema files, or database; may be repeated", collect)
    .option("--database-url <url>", "the database of --against database (default: DATABASE_URL)")
    .option("--schema <name>", "the database schema", "postrider")
    .option("--json", "print one JSON object instead of text")
    .option("--schemas <folder>", "where the schema files are", "schemas")
    .addHelpText(
      "after",
      "\nExit codes: 0 compatible (warnings allowed); 1 a breaking or unproven change, or a refused schema; 2 wrong usage.",
    )
    .action(run);
}

async function run(flags: CheckFlags): Promise<void> {
  const [{ compareWithAll }, { loadSchemas }, { problemText }] = await Promise.all([
    import("../../../codegen/compat.js"),
    import("../../../codegen/load.js"),
    import("../../../codegen/problem.js"),
  ]);
  const earlier = (await Promise.all(flags.against.map((against) => earlierOf(against, flags)))).flat();
  const after = await loadSchemas({ directory: flags.schemas, display: flags.schemas });
  const report = compareWithAll({ earlier, after, today: new Date().toISOString().slice(0, 10) });
  if (flags.json === true) process.stdout.write(`${JSON.stringify(report)}\n`);
  else process.stdout.write(`${[...report.problems.map(problemText), ...textOf(report)].join("\n")}\n`);
  if (!report.compatible) process.exitCode = 1;
}

function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

async function earlierOf(against: string, flags: CheckFlags): Promise<Earlier[]> {
  if (against === "database") {
    const connectionString = flags.databaseUrl ?? process.env.DATABASE_URL;
    if (connectionString === undefined || connectionString === "") {
      throw new PostriderError("ERR_NO_DATABASE", "neither --database-url nor DATABASE_URL says where it is");
    }
    const { loadRecorded } = await import("../../../codegen/compat/recorded.js");
    return await loadRecorded({ connectionString, schema: flags.schema });
  }
  const [{ loadEarlier }, { queuesOnly }] = await Promise.all([
    import("../../../codegen/compat/earlier.js"),
    import("../../../codegen/model.js"),
  ]);
  const before = await loadEarlier({ against, cwd: process.cwd(), schemas: flags.schemas });
  return [{ name: against, queues: queuesOnly(before), settings: true }];
}

function textOf(report: CompatReport): string[] {
  const errors = report.findings.filter((finding) => finding.severity === "error").length;
  const warnings = report.findings.length - errors;
  const ignored = report.ignored > 0 ? `, ${report.ignored} ignored` : "";
  const counts = `${errors} breaking, ${warnings} warnings${ignored}`;
  return [
    ...report.findings.map(findingText),
    `${report.queues} queues: ${report.compatible ? "compatible" : "not compatible"} (${counts})`,
  ];
}

function findingText(finding: CompatFinding): string {
  const { file, line, column, rule, queue, message, witness, hint, severity } = finding;
  const lines = [
    `${file}:${line}:${column}  ${rule}  ${severity === "warning" ? "(warning) " : ""}queue "${queue}": ${message}`,
  ];
  lines.push(`    against: ${finding.against}`);
  if (witness !== undefined) lines.push(`    witness: ${shortened(JSON.stringify(witness))}`);
  if (hint !== undefined) lines.push(`    hint: ${hint}`);
  return lines.join("\n");
}

function shortened(text: string): string {
  return text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text;
}
