/** A client for one test (K1): isolated, started, in the place of the generated default client, and gone at the end. */
import { Client } from "../client.js";
import { createRuntime } from "../create-runtime.js";
import type { BatchHandler, MessageHandler } from "../deliver/handler.js";
import { PostriderError } from "../errors.js";
import type { Logger } from "../instrument.js";
import type { QueueDefinition, QueueSettings } from "../queue/queue.js";
import type { Runtime } from "../runtime.js";
import { currentStandIn, defaultClients, standingIn } from "../stand-in.js";
import { duplicateDelivery } from "./duplicate-delivery.js";
import { whileTimePasses } from "./fake-time.js";
import { type IdleOptions, waitForIdle as untilIdle } from "./idle.js";
import { openTestStorage, type TestStorageOptions } from "./test-storage.js";

/** A handler of a queue: of its batches, or, as `{ each }`, of its messages. */
export type TestHandler = BatchHandler<never> | { readonly each: MessageHandler<never> };

/** Options of {@link withTestMq}; all optional. */
export interface TestMqOptions extends TestStorageOptions {
  /** Default: those of the generated clients that have been imported. */
  readonly queues?: readonly QueueDefinition[];
  /** By a queue's name or identifier; added to the handlers the default clients have, or in place of them. */
  readonly handlers?: Readonly<Record<string, TestHandler>>;
  /** Settings for all queues in this test; `{ backoff }`, for example, so that retries come at once. */
  readonly settings?: Partial<QueueSettings>;
  /** Store every batch twice (K3): handlers that pass are idempotent. */
  readonly duplicateDelivery?: boolean;
  /** Default: silent. */
  readonly logger?: Logger;
  /** How long handlers may still run at the end, in ms. Default 5,000. */
  readonly stopTimeoutMs?: number;
}

/** The client of a test. */
export interface TestMq extends Runtime {
  /** Writes what is buffered, and waits until the client is idle. */
  settled(options?: IdleOptions): Promise<void>;
  /** Waits until nothing is waiting, in a handler or about to be retried in the queues that have a handler. */
  waitForIdle(options?: IdleOptions): Promise<void>;
}

/**
 * Runs the body with a client of its own, started and without a publish buffer. While it runs, the default clients of
 * generated code ARE this client, with the handlers they have. Afterwards, also after a throw, it is flushed and stopped, its
 * storage is dropped and the default clients are themselves again.
 *
 * @returns what the body returns
 * @throws PostriderError `ERR_CLIENT_OPTIONS` when there are no queues, `ERR_QUEUE_UNDECLARED` for a handler of none
 */
export async function withTestMq<T>(options: TestMqOptions, body: (mq: TestMq) => Promise<T> | T): Promise<T> {
  const { stopTimeoutMs: timeoutMs = 5_000 } = options;
  const queues = queuesOf(options);
  const storage = await openTestStorage(options);
  try {
    const backend = options.duplicateDelivery === true ? duplicateDelivery(storage.backend) : storage.backend;
    const client = createRuntime({ queues, backend, logger: options.logger ?? silent }) as Runtime & Client;
    const mq = testMqOf(client);
    return await standingIn(mq, async () => {
      try {
        addHandlers(client, options.handlers ?? {});
        await client.start();
        return await body(mq);
      } finally {
        // A test that has mocked the timers moves them no more, least of all after a throw.
        await whileTimePasses(client.stop({ timeoutMs }));
      }
    });
  } finally {
    await storage.drop();
  }
}

/** {@link TestMq.settled} of the test that runs. @throws Error outside `withTestMq` */
export async function settled(options?: IdleOptions): Promise<void> {
  await runningTest().settled(options);
}

/** {@link TestMq.waitForIdle} of the test that runs. @throws Error outside `withTestMq` */
export async function waitForIdle(options?: IdleOptions): Promise<void> {
  await runningTest().waitForIdle(options);
}

function runningTest(): TestMq {
  const mq = currentStandIn();
  if (mq === undefined) throw new Error("there is no test client here: call this inside withTestMq");
  return mq as TestMq;
}

function queuesOf({ queues, settings }: TestMqOptions): readonly QueueDefinition[] {
  const known = queues ?? clientsReplaced().flatMap((client) => client.definitions);
  if (known.length === 0) {
    const message = "there are no queues: import the generated client before withTestMq is called, or give it queues";
    throw new PostriderError("ERR_CLIENT_OPTIONS", message);
  }
  return known.map((queue) => ({ ...queue, settings: { ...queue.settings, ...settings, buffer: false } }));
}

function clientsReplaced(): readonly Client[] {
  return defaultClients().filter((client) => client instanceof Client);
}

function addHandlers(client: Client, handlers: Readonly<Record<string, TestHandler>>): void {
  const given = new Set<string>();
  for (const [key, handler] of Object.entries(handlers)) {
    const { name } = client.definitions.find(({ identifier }) => identifier === key) ?? client.queue(key);
    given.add(name);
    const { listen } = client.queue(name);
    if (typeof handler === "function") listen(handler as BatchHandler<unknown>);
    else listen.each(handler.each as MessageHandler<unknown>);
  }
  for (const replaced of clientsReplaced()) {
    for (const listener of replaced.listeners) {
      const definition = client.definitions.find(({ name }) => name === listener.definition.name);
      if (definition !== undefined && !given.has(definition.name)) client.adopt({ ...listener, definition });
    }
  }
}

function testMqOf(client: Runtime & Client): TestMq {
  const busy = {
    inspector: client.inspector,
    listening: () => client.listeners.map(({ definition }) => definition.name),
    bufferDepth: () => client.health().bufferDepth,
  };
  const waitForIdle = (options?: IdleOptions) => untilIdle(busy, options);
  const settled = async (options?: IdleOptions) => {
    await client.flush();
    await waitForIdle(options);
  };
  return Object.assign(client, { settled, waitForIdle });
}

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
