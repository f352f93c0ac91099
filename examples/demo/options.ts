/** The demo's command line. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";

export interface DemoOptions {
  /** JSON Lines, each `{"queue", "message"}`. */
  readonly input: string;
  /** Publish this many, reading the input again as often as needed; absent: the input once. */
  readonly messages?: number;
  /** Kill a worker in the middle. */
  readonly crash?: boolean;
  readonly json?: boolean;
  readonly pollMs: number;
}

const maxMessages = 10_000_000;

/** @throws CommanderError after it has said what is wrong, or shown the help */
export function parseOptions(args: readonly string[]): DemoOptions {
  return new Command("npm run demo --")
    .description(
      "Two worker processes and a publisher on a real PostgreSQL: messages flow, and every one is accounted for.",
    )
    .option("--input <file>", "JSON Lines to publish", existingFile, join(import.meta.dirname, "..", "orders.jsonl"))
    .option(
      "--messages <n>",
      "publish this many, reading the input again as often as needed",
      wholeNumber(1, maxMessages),
    )
    .option("--crash", "kill one worker with SIGKILL in the middle")
    .option("--json", "print one JSON object instead of the table")
    .option("--poll-ms <ms>", "longest time between two looks for work", wholeNumber(10, 3_600_000), 5_000)
    .addHelpText(
      "after",
      "\nDATABASE_URL set: that server is used, in a schema of its own that is dropped at the end." +
        "\nFrom the second reading on, orderId and documentId get the reading's number behind a tilde (o-1~2)," +
        "\nso that dedup does not take a new order for a repeated one." +
        "\nExit codes: 0 nothing lost; 1 something was, or the demo failed; 2 wrong usage.",
    )
    .allowExcessArguments(false)
    .showHelpAfterError("(see npm run demo -- --help)")
    .exitOverride()
    .parse(args, { from: "user" })
    .opts<DemoOptions>();
}

function existingFile(path: string): string {
  if (existsSync(path)) return path;
  throw new InvalidArgumentError("There is no such file.");
}

function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
