/** Q3: a queue that another node has recorded differently is told, not decided: a rolling deploy has both sides running. */
import { isDeepStrictEqual } from "node:util";
import type { RegistryDifference } from "./backend/backend.js";
import type { Logger } from "./instrument.js";
import type { QueueDefinition } from "./queue/queue.js";

export function warnOfDifference(
  logger: Logger,
  known: readonly QueueDefinition[],
  difference: RegistryDifference,
): void {
  const ours = known.find(({ name }) => name === difference.queue);
  if (ours === undefined) return;
  const recorded = difference.recordedSettings as Record<string, unknown>;
  // By value, not as text: jsonb, in which they are recorded, keeps no order of keys.
  const settings = Object.keys(ours.settings).filter(
    (key) => !isDeepStrictEqual(recorded[key], ours.settings[key as keyof typeof ours.settings]),
  );
  const sameSchema = difference.recordedSchemaHash === ours.schemaHash;
  if (settings.length === 0 && sameSchema) return;
  const what = [...settings, ...(sameSchema ? [] : ["schema"])].join(", ");
  const then = difference.written ? "this node's are recorded now" : "a newer version is recorded and stays";
  logger.warn(
    { queue: ours.name, version: ours.settings.version, recordedVersion: difference.recordedVersion, differs: what },
    `queue "${ours.name}" is recorded with another ${what}; ${then}`,
  );
}
