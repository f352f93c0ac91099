/**
 * The data-path port: everything that moves batches. PostgreSQL implements it in SQL functions, memory in a map.
 *
 * Ownership, for every verb that takes leases: it acts only where `(queue, id, token)` still matches a batch in flight, and
 * answers which those were. A missing one was lost to recovery; that is a normal outcome, never an exception. Rows are
 * locked in (queue, id) order, so that two verbs on the same rows cannot deadlock.
 */
import type { Batch, Lease, NewBatch } from "../batch/batch.js";
import type { Recovery } from "../instrument.js";
import type { QueueDefinition } from "../queue/queue.js";
import type { SqlExecutor } from "../transaction/executors.js";
import type { Inspector } from "./inspector.js";
import type { ProgressStore } from "./progress-store.js";
import type { ScheduleBook } from "./schedule-book.js";

/** A queue with free slots on a node. */
export interface Want {
  readonly queue: string;
  /** Free slots: handler calls there is room for. */
  readonly limit: number;
  /** What one call may hold of several batches that never failed; absent: every batch is a call of its own (D1). */
  readonly merge?: { readonly messages: number; readonly bytes: number };
  /** The newest message version this node knows: newer batches wait for a newer node (D10). */
  readonly version: number;
}

/** A low-water mark: below this id there is, as far as the node knows, nothing of this queue and priority any more. */
export interface Mark {
  readonly queue: string;
  readonly priority: number;
  readonly fromId: string;
}

/** What a node asks for in one round. */
export interface PollRequest {
  readonly owner: string;
  readonly wants: readonly Want[];
  /** Payload bytes of one answer; the first batch comes whatever its size (D7). */
  readonly maxBytes: number;
  /** Where to begin looking; without a mark, at the beginning. A backend may ignore them: they only save reading. */
  readonly marks: readonly Mark[];
  /** Also promote what is due, and answer when the next is. */
  readonly maintain: boolean;
  /** Also recover what is stale. */
  readonly recover: boolean;
  /** And what is orphaned: only once the node's own session has stood for a while. */
  readonly orphans: boolean;
  /** Steps C2 and C3 of the wake-up protocol: say whether a publisher is in flight, then claim with a new snapshot. */
  readonly fallingAsleep: boolean;
  /** Also delete a portion of what is kept no longer. */
  readonly prune: boolean;
  /** Queues the node claims no more by itself (D6): those it has not said so of yet, and those it has. */
  readonly refusals?: Refusals | undefined;
}

/** What a node refuses. Its record in the database says so too, until somebody resumes the queue. */
export interface Refusals {
  readonly fresh: readonly string[];
  readonly known: readonly string[];
}

/** What one round found. */
export interface PollResult {
  /** By priority, then oldest first, per queue. Those of one `call` are handled together. */
  readonly batches: readonly Batch[];
  readonly recovered: readonly Recovery[];
  /**
   * Until the next delayed batch of any queue, known only after `maintain`; or until a queue that was asked for and is held
   * back by its rate has more.
   */
  readonly dueInMs?: number;
  /** Of the known refusals, those that somebody has resumed. */
  readonly resumed?: readonly string[];
  /** A publisher was in flight: its rows may appear without a notification, so do not sleep yet. */
  readonly publishing: boolean;
  /** How long the claim took where the data is, in ms; absent when it was not measured. */
  readonly scanMs?: number;
}

/** A batch whose handler failed. */
export interface FailedBatch {
  readonly lease: Lease;
  readonly delayMs: number;
  readonly error: string;
}

/** A batch given up at once. */
export interface DeadBatch {
  readonly lease: Lease;
  readonly reason: "schema" | "decode" | "rejected";
  readonly error: string;
}

/** Some messages leave their batch, the rest stays in the same row. */
export interface PartialSettlement {
  readonly lease: Lease;
  /** What stays; absent: nothing does, and the row goes. */
  readonly rest?: { readonly payload: string; readonly meta?: string; readonly positions: readonly number[] };
  readonly dead: readonly {
    readonly payload: string;
    readonly meta?: string;
    readonly position: number;
    readonly reason: "attempts" | "schema" | "rejected";
    readonly error: string;
  }[];
  /** The rest has failed once more and waits; absent: the lease goes on. */
  readonly failure?: { readonly delayMs: number; readonly error: string };
}

/** A batch replaced by batches of one message. */
export interface Division {
  readonly lease: Lease;
  /** What stays, in order: each a JSON array of one, with its place in the origin. */
  readonly singles: readonly { readonly payload: string; readonly meta?: string; readonly position: number }[];
  /** It has failed its last time: each message gets one attempt alone. Absent: it has crashed, and its counts go over. */
  readonly failure?: { readonly delayMs: number; readonly error: string };
}

/** A registration whose queue is recorded differently in the registry (Q3). */
export interface RegistryDifference {
  readonly queue: string;
  /** False: a newer version is recorded, and it stays. */
  readonly written: boolean;
  readonly recordedVersion: number;
  readonly recordedSettings: unknown;
  readonly recordedSchemaHash: string;
}

/** A session of the node that hears notifications. It holds the node's life (R3) and the wake-up protocol's SLEEP locks. */
export interface ListenSession {
  /** C1: take SLEEP for these queues. Notifications for them arrive from here on. */
  fallAsleep(queues: readonly string[]): Promise<void>;
  /** C4: give SLEEP back. */
  rise(): Promise<void>;
  /** Take the lock that says this node lives. Called once the session has proved that it hears. */
  liveAs(owner: string): Promise<void>;
  /** As {@link Backend.heartbeat}, over this session. */
  heartbeat(leases: readonly Lease[]): Promise<ReadonlyMap<string, HeartbeatAnswer>>;
  close(): Promise<void>;
}

/** What a session tells while it stands. */
export interface ListenEvents {
  /** A notification for a queue this session sleeps on; a hint, no more. `marked`: not just a plain publish. */
  onWake(marked: boolean): void;
  onEcho(nonce: string): void;
  /** Somebody has written the progress of this key; a hint, no more. */
  onProgress?(key: string): void;
  /** The session is gone; it will not come back by itself. */
  onDown(error: Error): void;
  /** Ends the session, also one that is still being opened. */
  readonly signal: AbortSignal;
}

/** Skipped: the row was locked by a settling statement; ask again. */
export type HeartbeatAnswer = "kept" | "skipped" | "lost";

/** How a transaction of the library's own begins. */
export interface TransactionOptions {
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  readonly readOnly?: boolean;
}

/** An open transaction of the library's own. After `commit` or `rollback` its connection is back in the pool. */
export interface OpenTransaction {
  /** Runs the user's statements in it. */
  readonly executor: SqlExecutor;
  /** The verbs that settle, as part of it: an atomic handler's batches leave with what it wrote (D9). */
  readonly settling: Settling;
  /** Stores batches in it; whoever commits wakes afterwards. */
  publish(batches: readonly NewBatch[]): Promise<readonly string[]>;
  /** `name` is an identifier of the library's own making. */
  savepoint(name: string): Promise<void>;
  releaseSavepoint(name: string): Promise<void>;
  rollbackTo(name: string): Promise<void>;
  commit(): Promise<void>;
  /** Never rejects: a connection that cannot roll back is closed, which rolls back just as well. */
  rollback(): Promise<void>;
}

/**
 * What one statement stores at most. Fifty 100-message rows reach 1.5 million messages a second from one process, more gain
 * nothing; the bytes of a statement are held in memory on both sides.
 */
export const writeBounds = { rows: 50, bytes: 8 * 1024 * 1024 } as const;

/** What a publish came to. */
export interface Stored {
  /** In the order of the batches. */
  readonly ids: readonly string[];
  /** Sleeping pollers are notified by the publish itself; otherwise `wake` must follow its commit. */
  readonly announced: boolean;
  /** The batches, by place, that were not stored: their key was taken, and the id is that of the batch that holds it (J9). */
  readonly skipped?: ReadonlySet<number>;
}

/** The verbs that end a lease and can be part of a caller's transaction. */
export interface Settling {
  /** Success, final; of a chain's step, the next one is stored by the same statement. The ids that were still ours. */
  ack(leases: readonly Lease[]): Promise<ReadonlySet<string>>;
  /** Gives batches back with no attempt spent, and wakes. */
  release(leases: readonly Lease[], delayMs: number): Promise<ReadonlySet<string>>;
  /** Repeated because nobody answered it buries nothing twice. */
  settlePart(settlement: PartialSettlement): Promise<"kept" | "delayed" | "gone" | undefined>;
}

/** Storage and wake-up behind a client. */
export interface Backend extends Settling {
  /** What operators ask and do; apart from the data path. */
  readonly inspector: Inspector;
  readonly progress: ProgressStore;
  readonly schedules: ScheduleBook;
  /** Stores the batches, all or none, apart from those whose key is taken. Through `tx` the caller's commit decides. */
  publish(batches: readonly NewBatch[], tx?: SqlExecutor): Promise<Stored>;
  begin(options?: TransactionOptions): Promise<OpenTransaction>;
  /** Notifies the pollers that sleep on these queues, after the commit of what was published. `marked`: some of it is delayed. */
  wake(queues: readonly string[], marked: boolean): Promise<void>;
  /** Claims for free slots: no batch to two callers, no more in flight than an exclusive queue's slot allows. */
  poll(request: PollRequest): Promise<PollResult>;
  /**
   * One failure more: waits, or dies at its limit. A batch of several messages does not die: it is left in flight and
   * answered `divide`, for its owner to divide it.
   */
  retry(failures: readonly FailedBatch[]): Promise<ReadonlyMap<string, "delayed" | "dead" | "divide">>;
  deadLetter(batches: readonly DeadBatch[]): Promise<ReadonlySet<string>>;
  /** Replaces the batch by batches of one, and wakes; their ids, none where it was lost. The messages keep their ids (D13). */
  divide(division: Division): Promise<readonly string[]>;
  /** Prolongs leases; the answers by token: of one batch a node may hold a lease that lives and one that it has lost (R1). */
  heartbeat(leases: readonly Lease[]): Promise<ReadonlyMap<string, HeartbeatAnswer>>;
  /** What this owner holds by the database's book. Absent where the answer to a claim cannot be lost. */
  leasesOf?(owner: string): Promise<readonly Lease[]>;
  /** Records queues in the registry; what was recorded differently before. */
  register(definitions: readonly QueueDefinition[], node: string): Promise<readonly RegistryDifference[]>;
  /** Opens a session that hears; rejects where none can be had. */
  listen(events: ListenEvents): Promise<ListenSession>;
  /** Sends a nonce that must come back through the session: the proof that it hears. */
  echo(nonce: string): Promise<void>;
  /** @throws PostriderError `ERR_NOT_MIGRATED`, `ERR_DATABASE_NEWER` */
  check(): Promise<void>;
  /** Notes the start of a node, with the message version it knows of each queue, or without those its end. */
  noteNode(owner: string, name: string, versions?: Readonly<Record<string, number>>): Promise<void>;
  /** Whether an error will pass (connection, serialization, resources) or stays the same however often it is tried. */
  isPassing(error: unknown): boolean;
  /** Whether a statement that failed like this may have been carried out all the same: nobody answered. */
  isUnanswered(error: unknown): boolean;
  close(): Promise<void>;
}
