/** The function a queue's publisher is, with `many` and `collect` on it. */

import type { OutgoingMessage } from "../batch/outgoing.js";
import type { Scope } from "../transaction/scope.js";
import { checkTogether, type QueuePublisher } from "./publish.js";
import type { Published, PublishedMany, Publisher, PublishOptions } from "./publisher.js";

/** Messages of one chunk of an async iterable. */
const chunkMessages = 1_000;

/**
 * @param publisher - found at the first call: importing the generated client opens nothing
 * @param scopeOf - the caller's transaction, if there is one
 */
export function publishTo(publisher: () => QueuePublisher, scopeOf: () => Scope | undefined): Publisher<unknown> {
  const publishOne = (message: unknown, options?: PublishOptions): Promise<Published> => {
    try {
      const to = publisher();
      const scope = scopeOf();
      return to.publish([to.prepare(message, options, scope !== undefined)], options, scope, publishedOne);
    } catch (error) {
      return Promise.reject(error);
    }
  };

  const publishTogether = async (messages: Iterable<unknown>, options?: PublishOptions): Promise<PublishedMany> => {
    const to = publisher();
    const prepared = Array.from(messages, (message) => to.prepare(message, options, true));
    checkTogether(to.definition.name, prepared);
    return await to.publish(prepared, options, scopeOf(), publishedMany);
  };

  const publishStream = async (messages: AsyncIterable<unknown>, options?: PublishOptions): Promise<PublishedMany> => {
    let stored = 0;
    const batchIds: string[] = [];
    let chunk: unknown[] = [];
    const publishChunk = async () => {
      const result = await publishTogether(chunk, options);
      stored += result.stored;
      batchIds.push(...result.batchIds);
      chunk = [];
    };
    try {
      for await (const message of messages) {
        chunk.push(message);
        if (chunk.length === chunkMessages) await publishChunk();
      }
      if (chunk.length > 0) await publishChunk();
    } catch (error) {
      throw withStored(error, stored);
    }
    return { stored, batchIds };
  };

  const many = (messages: Iterable<unknown> | AsyncIterable<unknown>, options?: PublishOptions) => {
    return Symbol.asyncIterator in messages ? publishStream(messages, options) : publishTogether(messages, options);
  };

  const collect = async <Result>(
    body: (put: (message: unknown) => void) => Result | Promise<Result>,
    options?: PublishOptions,
  ): Promise<Result> => {
    const to = publisher();
    const scope = scopeOf();
    const prepared: OutgoingMessage[] = [];
    const result = await body((message) => prepared.push(to.prepare(message, options, true)));
    checkTogether(to.definition.name, prepared);
    await to.publish(prepared, options, scope, publishedMany);
    return result;
  };

  return Object.assign(publishOne, { many, collect });
}

function publishedOne(batchIds: readonly string[]): Published {
  return { batchId: batchIds[0] ?? "" };
}

function publishedMany(batchIds: readonly string[]): PublishedMany {
  return { stored: batchIds.length, batchIds: [...new Set(batchIds)] };
}

// The user's own error keeps its type and its stack; it only learns how far the publish had come.
function withStored(error: unknown, stored: number): unknown {
  if (typeof error !== "object" || error === null) return error;
  const details = { ...(error as { details?: object }).details, stored };
  return Object.defineProperty(error, "details", { value: details, configurable: true, enumerable: true });
}
