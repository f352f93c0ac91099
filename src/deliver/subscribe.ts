/** The function that registers a queue's handler, with `each` on it. */
import type { QueueDefinition } from "../queue/queue.js";
import type { Engine } from "./engine.js";
import type { Handler } from "./handle.js";
import type { BatchHandler, Listener, ListenOptions, MessageHandler, Subscribe } from "./handler.js";

/** @param engine - found at the first call: importing the generated client opens nothing */
export function subscribeTo(definition: QueueDefinition, engine: () => Engine): Subscribe<unknown> {
  const listen = (handler: Handler, concurrency: number): Listener => engine().listen(definition, handler, concurrency);
  const concurrencyOf = (options: ListenOptions | undefined) => options?.concurrency ?? definition.settings.concurrency;
  const onBatch = (call: BatchHandler<unknown>, options?: ListenOptions) =>
    listen({ kind: "batch", call }, concurrencyOf(options));
  const each = (call: MessageHandler<unknown>, options?: ListenOptions) =>
    listen({ kind: "each", call, atOnce: concurrencyOf(options) }, concurrencyOf(options));
  return Object.assign(onBatch, { each });
}
