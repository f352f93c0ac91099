/** The function a queue's publisher is, with `many` and `collect` on it. */

import { PostriderError } from "../errors.js";
import type { Scope } from "../transaction/scope.js";
import { chainStep } from "./chain.js";
import { gather } from "./collect.js";
import type { Placed } from "./entry.js";
import type { QueuePublisher } from "./publish.js";
import type { Published, PublishedMany, Publisher, PublishOptions, StepOptions } from "./publisher.js";
import { badOption } from "./stowage.js";
import { Together } from "./together.js";

/** Messages and bytes of one chunk of an async iterable. */
const chunkMessages = 1_000;
const chunkBytes = 8 * 1024 * 1024;

/**
 * @param publisher - found at the first call: importing the generated client opens nothing
 * @param scopeOf - the caller's transaction, if there is one
 */
export function publishTo(publisher: () => QueuePublisher, scopeOf: () => Scope | undefined): Publisher<unknown> {
  const publishOne = (message: unknown, options?: PublishOptions): Promise<Published> => {
    try {
      const to = publisher();
      const scope = scopeOf();
      return quiet(to.publish([to.prepare(message, options, scope !== undefined)], options, scope, publishedOne));
    } catch (error) {
      return Promise.reject(error);
    }
  };

  const publishTogether = async (messages: Iterable<unknown>, options?: PublishOptions): Promise<PublishedMany> => {
    const to = publisher();
    const together = new Together(to.definition.name);
    if (!isIterable(messages))
      throw badOption(to.definition.name, `many takes a list of messages, found ${String(messages)}`);
    for (const message of messages) together.add(to.prepare(message, options, true));
    return await to.publish(together.messages, options, scopeOf(), publishedMany);
  };

  const publishStream = async (messages: AsyncIterable<unknown>, options?: PublishOptions): Promise<PublishedMany> => {
    const to = publisher();
    let stored = 0;
    const batchIds: string[] = [];
    let chunk = new Together(to.definition.name);
    const publishChunk = async () => {
      const result = await to.publish(chunk.messages, options, scopeOf(), publishedMany);
      stored += result.stored;
      batchIds.push(...result.batchIds);
      chunk = new Together(to.definition.name);
    };
    try {
      for await (const message of messages) {
        chunk.add(to.prepare(message, options, true));
        if (chunk.messages.length === chunkMessages || chunk.bytes >= chunkBytes) await publishChunk();
      }
      await publishChunk();
    } catch (error) {
      throw withStored(error, stored);
    }
    return { stored, batchIds };
  };

  const many = (messages: Iterable<unknown> | AsyncIterable<unknown>, options?: PublishOptions) => {
    return quiet(isStream(messages) ? publishStream(messages, options) : publishTogether(messages, options));
  };

  const publishCollected = async <Result>(
    body: (put: (message: unknown) => void) => Result | Promise<Result>,
    options?: PublishOptions,
  ): Promise<Result> => {
    const to = publisher();
    const { result, messages } = await gather(to, body, options);
    // Asked now: the transaction the body ran in may be over.
    await to.publish(messages, options, scopeOf(), publishedMany);
    return result;
  };

  const collect = <Result>(
    body: (put: (message: unknown) => void) => Result | Promise<Result>,
    options?: PublishOptions,
  ): Promise<Result> => quiet(publishCollected(body, options));

  const step = (message: unknown, options?: StepOptions) => chainStep(publisher(), message, options);

  return Object.assign(publishOne, { many, collect, step });
}

function isStream(messages: unknown): messages is AsyncIterable<unknown> {
  return typeof messages === "object" && messages !== null && Symbol.asyncIterator in messages;
}

// A text is iterable too, and its letters are hardly what anybody means to publish.
function isIterable(messages: unknown): boolean {
  return typeof messages === "object" && messages !== null && Symbol.iterator in messages;
}

function publishedOne({ batchIds }: Placed): Published {
  return { batchId: batchIds[0] ?? "" };
}

function publishedMany({ batchIds, skipped }: Placed): PublishedMany {
  return { stored: batchIds.length - skipped, batchIds: [...new Set(batchIds)] };
}

/**
 * The same promise, but for one thing: a caller that does not wait for it is left in peace when its messages are dropped. The
 * metric and the log have it (P8).
 */
export function quiet<T>(publishing: Promise<T>): Promise<T> {
  const result = new Promise<T>((resolve, reject) => {
    publishing.then(resolve, (error: unknown) => {
      if (error instanceof PostriderError && error.code === "ERR_BUFFER_DROPPED") result.catch(() => undefined);
      reject(error);
    });
  });
  return result;
}

// The user's own error keeps its type and its stack; it only learns how far the publish had come.
function withStored(error: unknown, stored: number): unknown {
  if (typeof error !== "object" || error === null) return error;
  const details = { ...(error as { details?: object }).details, stored };
  return Object.defineProperty(error, "details", { value: details, configurable: true, enumerable: true });
}
