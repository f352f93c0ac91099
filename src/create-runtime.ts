/** Makes a client, with one typed function per queue on it. */
import { Client } from "./client.js";
import { type ClientOptions, resolveClientOptions } from "./client-options.js";
import type { QueueDefinition } from "./queue/queue.js";
import { QueueRegistry } from "./queue/registry.js";
import type { Runtime } from "./runtime.js";

/** Options of {@link createRuntime}. */
export interface RuntimeOptions extends ClientOptions {
  readonly queues: readonly QueueDefinition[];
}

/**
 * Makes a client for these queues. Connects on first use.
 *
 * @throws PostriderError `ERR_CLIENT_OPTIONS`, `ERR_QUEUE_CONFLICT`, `ERR_SCHEMA_NAME`
 */
export function createRuntime({ queues, ...options }: RuntimeOptions): Runtime {
  const registry = new QueueRegistry();
  for (const definition of queues) registry.add(definition);
  const client = new Client(resolveClientOptions(options, queues), registry);
  const publishers: Record<string, unknown> = {};
  const subscribers: Record<string, unknown> = {};
  for (const definition of registry.all()) {
    const access = client.queue(definition.name);
    publishers[definition.identifier] = access.publish;
    subscribers[`on${definition.typeName}`] = access.listen;
  }
  return Object.assign(client, { publishTo: Object.freeze(publishers) }, subscribers);
}
