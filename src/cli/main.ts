#!/usr/bin/env node
/**
 * The `postrider` command. Each subcommand's module is loaded only when it is asked for: `publish` must not wait for what
 * `codegen` needs. Exit codes: 0 done; 1 failed, or a check found something; 2 wrong usage.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command, CommanderError } from "commander";
import { surviveBrokenPipes } from "./broken-pipe.js";
import { errorLine } from "./error-line.js";

/** A subcommand before it is loaded: enough for the list in the help text. */
interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

const commands: Readonly<Record<string, CommandEntry>> = {
  codegen: {
    summary: "make typed publishers and handlers from the schema files",
    load: async () => (await import("./commands/codegen.js")).codegenCommand(),
  },
  check: {
    summary: "refuse schema changes that would break messages in flight",
    load: async () => (await import("./commands/check.js")).checkCommand(),
  },
  migrate: {
    summary: "bring the database's schema up to date",
    load: async () => (await import("./commands/migrate.js")).migrateCommand(),
  },
  publish: {
    summary: "publish messages from a file or standard input, one JSON object a line",
    load: async () => (await import("./commands/publish.js")).publishCommand(),
  },
  status: {
    summary: "show what every queue holds, which nodes live, and what comes by the clock",
    load: async () => (await import("./commands/status.js")).statusCommand(),
  },
  peek: {
    summary: "print the next batches of a queue",
    load: async () => (await import("./commands/peek.js")).peekCommand(),
  },
  dead: {
    summary: "look at dead letters, put them back, or delete them",
    load: async () => (await import("./commands/dead.js")).deadCommand(),
  },
  pause: {
    summary: "let no node claim from a queue",
    load: async () => (await import("./commands/pause.js")).pauseCommand(),
  },
  resume: {
    summary: "let nodes claim from a paused queue again",
    load: async () => (await import("./commands/pause.js")).resumeCommand(),
  },
};

surviveBrokenPipes([process.stdout, process.stderr]);
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    await (await program(args)).parseAsync(args, { from: "user" });
    return typeof process.exitCode === "number" ? process.exitCode : 0;
  } catch (error) {
    // Commander has said what it had to say, help and version included.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(`${errorLine(error)}\n`);
    return 1;
  }
}

async function program(args: readonly string[]): Promise<Command> {
  const asked = args.find((arg) => !arg.startsWith("-") && arg !== "help");
  const program = new Command("postrider")
    .description("A typed message queue that lives in PostgreSQL.")
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError("(see postrider --help)")
    .addHelpText("after", "\nExit codes: 0 done; 1 failed, or a check found something; 2 wrong usage.");
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = name === asked ? await load() : new Command(name);
    program.addCommand(inherit(command, program, name).summary(summary));
    for (const subcommand of command.commands) inherit(subcommand, program, `${name} ${subcommand.name()}`);
  }
  return program;
}

function inherit(command: Command, program: Command, path: string): Command {
  return command.copyInheritedSettings(program).showHelpAfterError(`(see postrider ${path} --help)`);
}

function packageVersion(): string {
  const path = fileURLToPath(import.meta.resolve("postrider/package.json"));
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}
