/** `postrider dead list | show | redrive | purge`: the dead letters of a queue. */
import { Command, Option } from "commander";
import type { DeadLetterView } from "../../backend/inspector.js";
import type { PortionedOptions, PortionedResult } from "../../inspect/portioned.js";
import { confirm } from "../confirm.js";
import { firstLine, printColumns, printJson } from "../print.js";
import { progressBar } from "../progress-bar.js";
import { shownBatch } from "../shown-batch.js";
import { deadId, deadIds, wholeNumber } from "../whole-number.js";
import { type DatabaseOptions, databaseCommand } from "../with-database.js";
import { withInspection } from "../with-inspection.js";

interface DeadFlags extends DatabaseOptions {
  readonly reason?: DeadLetterView["reason"][];
  readonly limit?: number;
  readonly after?: string;
  readonly rate?: number;
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** The command, with its subcommands. */
export function deadCommand(): Command {
  return new Command("dead")
    .description("Look at the dead letters of a queue, put them back, or delete them.")
    .addCommand(
      filtered("list", "List dead letters, oldest first.")
        .option("--after <deadId>", "behind this one", deadId)
        .action(list),
    )
    .addCommand(
      databaseCommand("show")
        .description("Print dead letters whole, one JSON object a line: messages, error, history, remaining steps.")
        .argument("<queue>", "name of the queue")
        .argument("<deadIds...>", "which of them", deadIds)
        .action(show),
    )
    .addCommand(
      portionedCommand(
        "redrive",
        "Put dead letters back with a fresh count. Ctrl-C stops it; call it again to go on.",
      ).action((queue: string, deadIds: string[], flags: DeadFlags) => move(queue, deadIds, flags, "redrive")),
    )
    .addCommand(
      portionedCommand("purge", "Delete dead letters (asks).")
        .option("--yes", "do not ask")
        .action((queue: string, deadIds: string[], flags: DeadFlags) => move(queue, deadIds, flags, "purge")),
    );
}

function filtered(name: string, description: string): Command {
  return databaseCommand(name)
    .description(description)
    .argument("<queue>", "name of the queue")
    .addOption(
      new Option("--reason <reasons...>", "only of these").choices([
        "attempts",
        "crash",
        "schema",
        "decode",
        "rejected",
      ]),
    )
    .option("--limit <count>", "at most this many", wholeNumber)
    .option("--json", "print JSON, one object a line");
}

function portionedCommand(name: string, description: string): Command {
  return filtered(name, description)
    .argument("[deadIds...]", "only these", deadIds, [])
    .option("--rate <count>", "at most this many a second", wholeNumber);
}

function filterOf({ reason, limit }: DeadFlags) {
  return { ...(reason === undefined ? {} : { reasons: reason }), ...(limit === undefined ? {} : { limit }) };
}

async function list(queue: string, flags: DeadFlags): Promise<void> {
  await withInspection(flags, async ({ inspect, assertKnown, redacted }) => {
    await assertKnown(queue);
    const after = flags.after === undefined ? {} : { afterDeadId: flags.after };
    const found = await inspect.dead(queue, { ...filterOf(flags), ...after });
    const redact = await redacted(queue);
    const letters = found.map((letter) => shownBatch(letter, redact));
    if (flags.json === true) return letters.forEach(printJson);
    printColumns(
      ["dead id", "died", "reason", "messages", "step", "error"],
      letters.map(({ deadId, diedAt, reason, messageIds, chain, error = "" }) => [
        deadId,
        diedAt.toISOString(),
        reason,
        String(messageIds.length),
        chain === undefined ? "" : `${chain.step}/${chain.steps}`,
        firstLine(error),
      ]),
    );
  });
}

async function show(queue: string, deadIds: string[], flags: DatabaseOptions): Promise<void> {
  await withInspection(flags, async ({ inspect, assertKnown, redacted }) => {
    await assertKnown(queue);
    const redact = await redacted(queue);
    const letters = await inspect.dead(queue, { deadIds });
    for (const letter of letters) process.stdout.write(`${JSON.stringify(shownBatch(letter, redact))}\n`);
    const missing = deadIds.filter((id) => !letters.some((letter) => letter.deadId === id));
    if (missing.length === 0) return;
    process.stderr.write(`${queue}: no dead letter ${missing.join(", ")}\n`);
    process.exitCode = 1;
  });
}

async function move(queue: string, deadIds: string[], flags: DeadFlags, verb: "redrive" | "purge"): Promise<void> {
  await withInspection(flags, async ({ inspect, assertKnown }) => {
    await assertKnown(queue);
    if (verb === "purge" && flags.yes !== true && !(await confirm(`Delete dead letters of ${queue}?`))) {
      process.stdout.write("nothing was deleted\n");
      process.exitCode = 1;
      return;
    }
    const ids = deadIds.length === 0 ? {} : { deadIds };
    const rate = flags.rate === undefined ? {} : { ratePerSecond: flags.rate };
    const result = await withBar(flags, verb, (how) =>
      inspect[verb](queue, { ...filterOf(flags), ...ids, ...rate, ...how }),
    );
    if (!result.complete) process.exitCode = 1;
    if (flags.json === true) return printJson({ queue, ...result });
    const done = verb === "redrive" ? "put back" : "deleted";
    const stopped = result.complete ? "" : "; stopped: call it again to go on";
    process.stdout.write(`${queue}: ${result.done} of ${result.total} ${done}${stopped}\n`);
  });
}

async function withBar(
  flags: DeadFlags,
  verb: string,
  work: (how: Pick<PortionedOptions, "signal" | "onProgress">) => Promise<PortionedResult>,
): Promise<PortionedResult> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal);
  // In shares of the whole: how much that is, is known when the first portion is done.
  const bar = await progressBar(flags.json === true ? undefined : 1, verb);
  const onProgress = ({ done, total }: { readonly done: number; readonly total: number }) => {
    if (flags.json === true) printJson({ done, total });
    else bar.at(done / total);
  };
  try {
    return await work({ signal: stop.signal, onProgress });
  } finally {
    bar.end();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
  }
}
