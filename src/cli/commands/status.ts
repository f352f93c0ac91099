/** `postrider status`: what every queue holds, who lives, what comes by the clock. Exit code 1 when something is not consumed. */
import type { Command } from "commander";
import type { Depth, NodeView, Unconsumable } from "../../backend/inspector.js";
import type { ScheduleView } from "../../backend/schedule-book.js";
import { printColumns, printJson, spanText } from "../print.js";
import { type DatabaseOptions, databaseCommand } from "../with-database.js";
import { withInspection } from "../with-inspection.js";

interface StatusFlags extends DatabaseOptions {
  readonly json?: boolean;
}

interface Status {
  readonly queues: readonly Depth[];
  readonly nodes: readonly NodeView[];
  readonly schedules: readonly ScheduleView[];
  readonly unconsumable: readonly Unconsumable[];
}

/** The command, with its options. */
export function statusCommand(): Command {
  return databaseCommand("status")
    .description("Show what every queue holds, which nodes live, and what comes by the clock.")
    .option("--json", "print one JSON object")
    .action(async (flags: StatusFlags) => {
      const status = await withInspection(flags, async ({ inspect }): Promise<Status> => {
        const [queues, nodes, schedules, unconsumable] = await Promise.all([
          inspect.depths(),
          inspect.nodes(),
          inspect.schedules(),
          inspect.unconsumable(),
        ]);
        // What a schedule's message says may be redacted, and is no part of a status.
        const rules = schedules.map(({ payload: _, ...rule }) => rule as ScheduleView);
        return { queues, nodes: nodes.filter(({ alive }) => alive), schedules: rules, unconsumable };
      });
      const isRefused = status.nodes.some(({ refused }) => refused.length > 0);
      if (status.unconsumable.length > 0 || isRefused) process.exitCode = 1;
      if (flags.json === true) printJson(status);
      else printStatus(status);
    });
}

function printStatus({ queues, nodes, schedules, unconsumable }: Status): void {
  const now = Date.now();
  const rows = queues.map(({ queue, pending, delayed, processing, dead, oldestAt, paused, atLeast }) => [
    queue,
    ...[pending, delayed, processing, dead].map(String),
    oldestAt === undefined ? "" : spanText(now - oldestAt.getTime()),
    [...(paused ? ["paused"] : []), ...(atLeast ? ["counted to 10,000"] : [])].join(", "),
  ]);
  printColumns(["queue", "pending", "delayed", "processing", "dead", "oldest", ""], rows);
  process.stdout.write("\n");
  printColumns(
    ["node", "started"],
    nodes.map(({ name, startedAt }) => [name, startedAt.toISOString()]),
  );
  for (const { name, refused } of nodes.filter(({ refused }) => refused.length > 0)) {
    process.stdout.write(
      `\n${name} claims nothing more from ${refused.join(", ")}: all it took died of its schema; after \`resume\` it tries again\n`,
    );
  }
  if (schedules.length > 0) {
    process.stdout.write("\n");
    const at = (time: Date | undefined) => time?.toISOString() ?? "never";
    printColumns(
      ["schedule of", "cron", "time zone", "next", "last"],
      schedules.map(({ queue, cron, timeZone, nextAt, lastAt }) => [queue, cron, timeZone, at(nextAt), at(lastAt)]),
    );
  }
  for (const { queue, batches, knownVersion } of unconsumable) {
    process.stdout.write(
      `\n${queue}: ${batches} batches are newer than version ${knownVersion}, the newest that a live node knows\n`,
    );
  }
}
