/** `postrider pause <queue>` and `postrider resume <queue>`. */
import type { Command } from "commander";
import { type DatabaseOptions, databaseCommand } from "../with-database.js";
import { withInspection } from "../with-inspection.js";

export function pauseCommand(): Command {
  return databaseCommand("pause")
    .description("No node claims from the queue any more, from the next claim on. What is in flight goes on.")
    .argument("<queue>", "name of the queue")
    .action((queue: string, flags: DatabaseOptions) => set(queue, flags, true));
}

export function resumeCommand(): Command {
  return databaseCommand("resume")
    .description("Nodes claim from the queue again, at once.")
    .argument("<queue>", "name of the queue")
    .action((queue: string, flags: DatabaseOptions) => set(queue, flags, false));
}

async function set(queue: string, flags: DatabaseOptions, paused: boolean): Promise<void> {
  await withInspection(flags, async ({ inspect, assertKnown }) => {
    await assertKnown(queue);
    await (paused ? inspect.pause(queue) : inspect.resume(queue));
    process.stdout.write(`${queue}: ${paused ? "paused" : "resumed"}\n`);
  });
}
