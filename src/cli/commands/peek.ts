/** `postrider peek <queue>`: what would be claimed next, and leaves it. */
import { type Command, Option } from "commander";
import type { StoredBatch } from "../../backend/inspector.js";
import { printJson } from "../print.js";
import { shownBatch } from "../shown-batch.js";
import { wholeNumber } from "../whole-number.js";
import { type DatabaseOptions, databaseCommand } from "../with-database.js";
import { withInspection } from "../with-inspection.js";

interface PeekFlags extends DatabaseOptions {
  readonly status: StoredBatch["status"];
  readonly limit: number;
}

/** The command, with its options. */
export function peekCommand(): Command {
  return databaseCommand("peek")
    .description(
      "Print the next batches of a queue, one JSON object a line, in the order in which they would be claimed.",
    )
    .argument("<queue>", "name of the queue")
    .addOption(
      new Option("--status <status>", "which of them").choices(["pending", "delayed", "processing"]).default("pending"),
    )
    .option("--limit <count>", "at most this many", wholeNumber, 20)
    .action(async (queue: string, flags: PeekFlags) => {
      await withInspection(flags, async ({ inspect, assertKnown, redacted }) => {
        await assertKnown(queue);
        const redact = await redacted(queue);
        for (const batch of await inspect.peek(queue, flags)) printJson(shownBatch(batch, redact));
      });
    });
}
