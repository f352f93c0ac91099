export type {
  Backend,
  DeadBatch,
  Division,
  FailedBatch,
  HeartbeatAnswer,
  ListenEvents,
  ListenSession,
  Mark,
  OpenTransaction,
  PartialSettlement,
  PollRequest,
  PollResult,
  RegistryDifference,
  Stored,
  TransactionOptions,
  Want,
} from "./backend/backend.js";
export type {
  BatchView,
  ChainView,
  DeadFilter,
  DeadLetterView,
  Death,
  Depth,
  Inspector,
  NodeView,
  StoredBatch,
  Unconsumable,
} from "./backend/inspector.js";
export { MemoryBackend, type MemoryBackendOptions } from "./backend/memory/memory-backend.js";
export type { PostgresPool } from "./backend/postgres/connection-options.js";
export { PostgresBackend, type PostgresBackendOptions } from "./backend/postgres/postgres-backend.js";
export type { Progress, ProgressStore, ProgressUpdate } from "./backend/progress-store.js";
export type { DueSchedule, DueSchedules, ScheduleBook, ScheduleEntry, ScheduleView } from "./backend/schedule-book.js";
export type { Batch, Lease, NewBatch } from "./batch/batch.js";
export type { ClientOptions } from "./client-options.js";
export { createRuntime, type RuntimeOptions } from "./create-runtime.js";
export type {
  BatchContext,
  BatchHandler,
  Listener,
  ListenOptions,
  MessageContext,
  MessageHandler,
  Subscribe,
} from "./deliver/handler.js";
export type { Pull, PulledBatch } from "./deliver/pulled.js";
export { DeadLetter, type ErrorCode, PostriderError, RetryLater } from "./errors.js";
export type { Hook, HookOptions, Hooks } from "./hooks.js";
export type { DeadLetterFilter, Inspection } from "./inspect/inspection.js";
export type { PortionedOptions, PortionedResult } from "./inspect/portioned.js";
export type { WhichBatch } from "./inspect/queue-upkeep.js";
export type { EventName, Events, Logger, QueueGauges, Recovery } from "./instrument.js";
export { metricsEndpoint } from "./metrics/endpoint.js";
export type { FollowOptions, ProgressAccess } from "./progress/progress-access.js";
export type { DedupFunction } from "./publish/dedup-function.js";
export type {
  ChainStep,
  Published,
  PublishedChain,
  PublishedMany,
  Publisher,
  PublishOptions,
  StepOptions,
} from "./publish/publisher.js";
export type { QueueDefinition, QueueSettings, ScheduleRule, Validate, ValidationError } from "./queue/queue.js";
export { validatorParts } from "./queue/validator-parts.js";
export type { Health, QueueAccess, QueueSize, Runtime, StopOptions } from "./runtime.js";
export { defaultClient } from "./stand-in.js";
export type { SqlExecutor } from "./transaction/executors.js";
export { type DrizzleTransaction, fromDrizzle } from "./transaction/from-drizzle.js";
export { fromKnex, type KnexTransaction } from "./transaction/from-knex.js";
export { fromKysely, type KyselyQuery, type KyselyTransaction } from "./transaction/from-kysely.js";
export { fromPostgresJs, type PostgresJsTransaction } from "./transaction/from-postgres-js.js";
export { fromPrisma, type PrismaTransaction } from "./transaction/from-prisma.js";
export { fromTypeOrm, type TypeOrmEntities, type TypeOrmQueryRunner } from "./transaction/from-type-orm.js";
export type { RunOptions } from "./transaction/retry.js";
