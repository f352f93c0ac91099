/** The function that registers a queue's handler, with `each` on it. */
import pLimit from "p-limit";
import { PostriderError } from "../errors.js";
import type { QueueDefinition } from "../queue/queue.js";
import { unknownKey } from "../queue/unknown-key.js";
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
  const onBatch = (call: BatchHandler<unknown>, options?: ListenOptions) => {
    assertListening(definition, call, options);
    return engine().listen(definition, { kind: "batch", call, ...atomic(options) }, concurrencyOf(definition, options));
  };
  const each = (call: MessageHandler<unknown>, options?: ListenOptions) => {
    assertListening(definition, call, options);
    const concurrency = concurrencyOf(definition, options);
    return engine().listen(
      definition,
      { kind: "each", call, limit: pLimit(concurrency), ...atomic(options) },
      concurrency,
    );
  };
  return Object.assign(onBatch, { each });
}

const known: ReadonlySet<string> = new Set(
  Object.keys({ concurrency: true, atomic: true } satisfies Record<keyof ListenOptions, true>),
);

/** @throws PostriderError `ERR_CLIENT_OPTIONS`, for callers that no compiler has checked */
function assertListening({ name }: QueueDefinition, handler: unknown, options: ListenOptions | undefined): void {
  if (typeof handler !== "function")
    throw badListener(name, `the handler must be a function, found ${String(handler)}`);
  const wrong = options === undefined ? undefined : unknownKey(options, known);
  if (wrong !== undefined) throw badListener(name, wrong);
}

/** @throws PostriderError `ERR_CLIENT_OPTIONS` */
function concurrencyOf({ name, settings }: QueueDefinition, options: ListenOptions | undefined): number {
  const concurrency = options?.concurrency ?? settings.concurrency;
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 1_000) return concurrency;
  throw badListener(name, `concurrency must be a whole number from 1 to 1000, found ${String(concurrency)}`);
}

function badListener(queue: string, message: string): PostriderError {
  return new PostriderError("ERR_CLIENT_OPTIONS", `queue "${queue}": ${message}`, { details: { queue } });
}
