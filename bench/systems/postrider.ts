/** The product, as it comes: default settings, both validations on. */

import { createRuntime, type QueueDefinition, type QueueSettings } from "postrider";
import { queues as declared } from "../../generated/queues.js";
import type { Adapter, SystemOptions, Tuning } from "./system.js";

export const adapter: Adapter = {
  // The database of a run is migrated before anything else; queues are recorded by whoever starts first.
  prepare: async () => undefined,
  open: async (options) => {
    const { connectionString, queues, tuning = {} } = options;
    const { schema, pollMs, poolSize, heartbeatMs, concurrency } = tuning;
    const listening = concurrency === undefined ? {} : { concurrency };
    const client = createRuntime({
      connectionString,
      queues: queues.map((queue) => orderQueue(queue, tuning)),
      ...(schema === undefined ? {} : { schema }),
      ...(pollMs === undefined ? {} : { pollMs }),
      ...(poolSize === undefined ? {} : { poolSize }),
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    });
    return {
      publish: (queue, message) => client.queue(queue).publish(message),
      publishMany: (queue, messages) => client.queue(queue).publish.many(messages),
      consume: async (names, handle) => {
        for (const name of names) client.queue(name).listen((messages) => handle(messages as never), listening);
        await client.start();
      },
      stop: () => client.stop(),
    };
  },
};

/** The example's order queue under another name, with what the scenario varies. */
function orderQueue(name: SystemOptions["queues"][number], tuning: Tuning): QueueDefinition {
  const order = declared.find((queue) => queue.name === "order-placed");
  if (order === undefined) throw new Error("the queue order-placed is gone from generated/queues.js");
  const { maxBatchMessages, orphanAfterMs, unbuffered } = tuning;
  const settings: QueueSettings = {
    ...order.settings,
    ...(maxBatchMessages === undefined ? {} : { maxBatchMessages }),
    ...(orphanAfterMs === undefined ? {} : { orphanAfterMs }),
    ...(unbuffered === true ? { buffer: false } : {}),
  };
  const identifier = name.replaceAll(/\W(\w)/g, (_, letter: string) => letter.toUpperCase());
  const typeName = identifier.charAt(0).toUpperCase() + identifier.slice(1);
  return { ...order, name, identifier, typeName, settings };
}
