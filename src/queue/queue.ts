/** What a queue is to a process: its name, its settings, and the two validators that came from its one schema file. */

/** A precompiled check of one message. Keeps the errors of its last call in `errors`, as ajv's functions do. */
export interface Validate {
  (message: unknown): boolean;
  errors?: readonly ValidationError[] | null;
}

/** The part of an ajv error object that error texts are made from. */
export interface ValidationError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  readonly propertyName?: string;
}

/** Wait before the next attempt: `initialMs * factor^(failures - 1)`, at most `maxMs`, spread by `jitter` (a share, 0 to 1). */
export interface Backoff {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  readonly jitter: number;
}

/** The sliding window (P7): written `windowMs` after the last message, at most `maxMs` after the first (0 = no bound). */
export interface WindowBuffer {
  readonly windowMs: number;
  readonly maxMs: number;
  /** Writes tried before the messages are dropped; 0 = for ever. */
  readonly maxAttempts: number;
}

/** Which of the messages published together are one and the same (P10). */
export interface Dedup {
  /** JSON Pointers into the message; a message that lacks one of them is never a duplicate. */
  readonly by: readonly string[];
  readonly keep: "first" | "last";
}

/** A message that is published by the clock (J6). */
export interface ScheduleRule {
  /** Five fields, or six with seconds first. */
  readonly cron: string;
  /** IANA. */
  readonly timeZone: string;
  readonly message: unknown;
  /** Occurrences that are stored late when no node was there in time, the newest ones. */
  readonly catchUp: number;
}

/** At most one message of a key, in the whole cluster (J9). */
export interface Unique {
  /** JSON Pointers into the message; a message that lacks one of them has no key. */
  readonly by: readonly string[];
  /** How long a message holds its key; delayed counts as pending. */
  readonly whileIn: readonly ("pending" | "processing")[];
  readonly onConflict: "skip" | "replace";
}

/** Messages of one key run one after another (J10). */
export interface OrderBy {
  /** JSON Pointer into the message; a message that lacks it is in no line. */
  readonly by: string;
  /** Whether what is behind a failed or delayed message waits for it. */
  readonly onFailure: "block" | "skip";
}

/** At most `limit` messages handed out in any stretch of `perMs`, in the whole cluster (J11). */
export interface Rate {
  readonly limit: number;
  readonly perMs: number;
}

/** The settings of a queue with every default filled in. Units and bounds: `options.ts`. */
export interface QueueSettings {
  readonly exclusive: boolean;
  readonly maxBatchMessages: number;
  readonly maxBatchBytes: number;
  readonly concurrency: number;
  readonly dedup?: Dedup;
  readonly unique?: Unique;
  readonly orderBy?: OrderBy;
  /** Batches in flight at once in the whole cluster. */
  readonly maxInFlight?: number;
  readonly rate?: Rate;
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  readonly timeoutMs?: number;
  readonly buffer: "adaptive" | WindowBuffer | false;
  readonly orphanAfterMs: number;
  readonly staleAfterMs: number;
  readonly deadLetter: { readonly retentionMs: number } | false;
  readonly schedule?: readonly ScheduleRule[];
  readonly version: number;
  readonly aliases: readonly string[];
  readonly redact: readonly string[];
}

/** One queue as codegen declares it (Q1). Frozen; the same on every node. */
export interface QueueDefinition {
  /** The name in the database: any text of 1 to 254 bytes. */
  readonly name: string;
  /** The name in code: `publishTo.<identifier>`. */
  readonly identifier: string;
  /** The identifier capitalised: the message's type, `on<TypeName>` and `is<TypeName>`. */
  readonly typeName: string;
  readonly settings: QueueSettings;
  /** The schema of one message, shared definitions included, as recorded in the registry. */
  readonly schema: unknown;
  /** SHA-256 of the canonical form of `schema`, as hex. */
  readonly schemaHash: string;
  /** The schema file below the project, for error texts; absent for a queue made at run time. */
  readonly source?: string;
  /** Strict: unknown properties are refused (P1). */
  readonly validatePublish: Validate;
  /** Lenient: unknown properties are ignored (D6). */
  readonly validateDeliver: Validate;
}
