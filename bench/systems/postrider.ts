/** The product, as it comes: default settings, both validations on. */
import { type Backend, createRuntime, PostgresBackend, type QueueDefinition, type QueueSettings } from "postrider";
import { queues as declared } from "../../generated/queues.js";
import { type Adapter, type SystemOptions, silentSchema } from "./system.js";

export const adapter: Adapter = {
  // The database of a run is migrated before anything else; queues are recorded by whoever starts first.
  prepare: async () => undefined,
  open: async (options) => {
    const { connectionString, queues, tuning = {} } = options;
    const { silent, pollMs, poolSize, heartbeatMs, concurrency } = tuning;
    const listening = concurrency === undefined ? {} : { concurrency };
    const client = createRuntime({
      ...(silent === true ? { backend: silentBackend(options) } : { connectionString }),
      queues: queues.map((queue) => orderQueue(queue, options)),
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

/** Notifies nobody, and does not ask the database whether to. */
function silentBackend({ connectionString, tuning = {} }: SystemOptions): Backend {
  const { poolSize } = tuning;
  const sized = poolSize === undefined ? {} : { poolSize };
  return new (class extends PostgresBackend {
    override async wake(): Promise<void> {}
  })({ connectionString, schema: silentSchema, ...sized });
}

/** The example's order queue under another name, with what the scenario varies. */
function orderQueue(name: string, { exclusive = false, tuning = {} }: SystemOptions): QueueDefinition {
  const order = declared.find((queue) => queue.name === "order-placed");
  if (order === undefined) throw new Error("the queue order-placed is gone from generated/queues.js");
  const { maxBatchMessages, orphanAfterMs, unbuffered } = tuning;
  const settings: QueueSettings = {
    ...order.settings,
    exclusive,
    ...(maxBatchMessages === undefined ? {} : { maxBatchMessages }),
    ...(orphanAfterMs === undefined ? {} : { orphanAfterMs }),
    ...(unbuffered === true ? { buffer: false } : {}),
  };
  const identifier = name.replaceAll(/\W(\w)/g, (_, letter: string) => letter.toUpperCase());
  const typeName = identifier.charAt(0).toUpperCase() + identifier.slice(1);
  return { ...order, name, identifier, typeName, settings };
}
