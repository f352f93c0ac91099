/** The function that registers a queue's handler, with `each` on it. */
import pLimit from "p-limit";
import { PostriderError } from "../errors.js";
import type { QueueDefinition } from "../queue/queue.js";
import type { Atomically } from "./atomic.js";
import type { Engine } from "./engine.js";
import type { BatchHandler, ListenOptions, MessageHandler, Subscribe } from "./handler.js";

/**
 * @param engine - found at the first call: importing the generated client opens nothing
 * @param atomically - the transaction of an atomic handler's call
 */
export function subscribeTo(
  definition: QueueDefinition,
  engine: () => Engine,
  atomically: Atomically,
): Subscribe<unknown> {
  const atomic = (options?: ListenOptions) => (options?.atomic === true ? { atomically } : {});
  const onBatch = (call: BatchHandler<unknown>, options?: ListenOptions) =>
    engine().listen(definition, { kind: "batch", call, ...atomic(options) }, concurrencyOf(definition, options));
  const each = (call: MessageHandler<unknown>, options?: ListenOptions) => {
    const concurrency = concurrencyOf(definition, options);
    return engine().listen(
      definition,
      { kind: "each", call, limit: pLimit(concurrency), ...atomic(options) },
      concurrency,
    );
  };
  return Object.assign(onBatch, { each });
}

/** @throws PostriderError `ERR_CLIENT_OPTIONS` */
function concurrencyOf({ name, settings }: QueueDefinition, options: ListenOptions | undefined): number {
  const concurrency = options?.concurrency ?? settings.concurrency;
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 1_000) return concurrency;
  const message = `queue "${name}": concurrency must be a whole number from 1 to 1000, found ${String(concurrency)}`;
  throw new PostriderError("ERR_CLIENT_OPTIONS", message, { details: { queue: name } });
}
