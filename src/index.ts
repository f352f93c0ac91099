export type { Backend } from "./backend/backend.js";
export { createRuntime, type RuntimeOptions } from "./client.js";
export type { ClientOptions } from "./client-options.js";
export type {
  BatchContext,
  BatchHandler,
  Listener,
  ListenOptions,
  MessageContext,
  MessageHandler,
  Subscribe,
} from "./deliver/handler.js";
export { DeadLetter, type ErrorCode, PostriderError, RetryLater } from "./errors.js";
export type { EventName, Events, Logger } from "./instrument.js";
export type { Published, PublishedMany, Publisher, PublishOptions } from "./publish/publisher.js";
export type { QueueDefinition, QueueSettings, Validate, ValidationError } from "./queue/queue.js";
export { validatorParts } from "./queue/validator-parts.js";
export type { Health, QueueAccess, Runtime, StopOptions } from "./runtime.js";
export type { SqlExecutor } from "./transaction/executors.js";
