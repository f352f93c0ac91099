/** The function that pulls from a queue, with `ack` on it. */
import type { QueueDefinition } from "../queue/queue.js";
import type { Pull, PulledBatch } from "./pulled.js";
import type { Puller } from "./puller.js";

/** @param puller - found at the first call: naming a queue opens nothing */
export function pullFrom(definition: QueueDefinition, puller: () => Puller): Pull<unknown> {
  const pull = async (options: { readonly limit?: number } = {}) => await puller().pull(definition, options);
  const ack = async (batches: readonly PulledBatch<unknown>[]) => await puller().ack(definition, batches);
  return Object.assign(pull, { ack });
}
