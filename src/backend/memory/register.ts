/** Records what a starting node knows of a queue (Q3): `register_queue` of the SQL functions. */
import type { QueueDefinition } from "../../queue/queue.js";
import type { RegistryDifference } from "../backend.js";
import type { Store } from "./store.js";

export function register(store: Store, { name, settings, schemaHash }: QueueDefinition): RegistryDifference[] {
  const record = store.recordOf(name);
  const { version, settings: recordedSettings, schemaHash: recordedSchemaHash } = record;
  const written = recordedSchemaHash === undefined || version <= settings.version;
  const difference = { queue: name, written, recordedVersion: version, recordedSettings };
  if (written) {
    const { maxAttempts, orphanAfterMs, staleAfterMs, deadLetter, exclusive, maxInFlight, orderBy, rate } = settings;
    Object.assign(record, { version: settings.version, schemaHash, maxAttempts, orphanAfterMs, staleAfterMs });
    // Through JSON, as the database keeps them: what is compared has lost its undefined fields.
    record.settings = JSON.parse(JSON.stringify(settings));
    record.deadLetter = deadLetter !== false;
    if (deadLetter !== false) record.retentionMs = deadLetter.retentionMs;
    const slots = maxInFlight ?? (exclusive ? 1 : 0);
    record.slots = Array.from({ length: slots }, (_, slot) => record.slots[slot]);
    record.orderBy = orderBy;
    record.rate = rate;
  }
  return recordedSchemaHash === undefined ? [] : [{ ...difference, recordedSchemaHash }];
}
