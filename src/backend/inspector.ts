/** The operators' port: what waits, what died, and what to do about it. Nothing here is on the data path. */
import type { QueueGauges } from "../instrument.js";

/** How much of a queue is where. */
export interface Depth {
  readonly queue: string;
  readonly pending: number;
  readonly delayed: number;
  readonly processing: number;
  readonly dead: number;
  /** A status has more batches than were counted. */
  readonly atLeast: boolean;
  /** When the oldest waiting batch was published. */
  readonly oldestAt?: Date;
  readonly paused: boolean;
}

/** A batch as operators see it. */
export interface BatchView {
  readonly queue: string;
  readonly batchId: string;
  /** Ids of its messages, in order. */
  readonly messageIds: readonly string[];
  readonly payload: string;
  readonly meta?: string;
  readonly priority: number;
  readonly version: number;
  readonly failures: number;
  readonly crashes: number;
  readonly publishedAt: Date;
  readonly owner?: string;
  /** The text of the last failure or crash. */
  readonly error?: string;
  /** Of a chain's step: the chain, and what follows this step. */
  readonly chain?: ChainView;
  /** Earlier deaths, oldest first, at most twenty: it was redriven after each of them. */
  readonly history: readonly Death[];
}

/** The chain a batch is a step of. */
export interface ChainView {
  readonly id: string;
  /** This step, counted from 1. */
  readonly step: number;
  readonly steps: number;
  readonly remaining: readonly { readonly queue: string; readonly payload: string }[];
}

/** How a batch died before it was redriven. */
export interface Death {
  readonly reason: DeadLetterView["reason"];
  readonly error?: string;
  readonly failures: number;
  readonly crashes: number;
  readonly owner?: string;
  readonly diedAt: Date;
}

/** A batch that waits or runs. */
export interface StoredBatch extends BatchView {
  readonly status: "pending" | "delayed" | "processing";
  readonly availableAt?: Date;
}

/** A batch given up. One batch may leave several, in parts: `deadId` tells them apart. */
export interface DeadLetterView extends BatchView {
  readonly deadId: string;
  readonly reason: "attempts" | "crash" | "schema" | "decode" | "rejected";
  readonly diedAt: Date;
}

/** Which dead letters. */
export interface DeadFilter {
  readonly queue: string;
  readonly deadIds?: readonly string[];
  readonly reasons?: readonly DeadLetterView["reason"][];
  /** Default 1,000. */
  readonly limit?: number;
}

/** Waiting batches that no live node can consume: they are newer than every node that knows their queue. */
export interface Unconsumable {
  readonly queue: string;
  readonly knownVersion: number;
  readonly batches: number;
}

/** A node that has started. */
export interface NodeView {
  readonly owner: string;
  readonly name: string;
  readonly startedAt: Date;
  readonly stoppedAt?: Date;
  /** Its session stands. A node that never had one is alive as far as anybody knows, until it says that it stopped. */
  readonly alive: boolean;
  /** Queues it claims no more, because its last 100 batches of them all died of their schema, until they are resumed (D6). */
  readonly refused: readonly string[];
}

export interface Inspector {
  /** Counts up to 10,000 per queue and status. */
  depths(): Promise<readonly Depth[]>;
  /** The next batches of a queue, in the order in which they would be claimed. `limit` default 20. */
  peek(queue: string, status: StoredBatch["status"], limit?: number): Promise<readonly StoredBatch[]>;
  /** Dead letters, oldest first, after the one named. */
  dead(filter: DeadFilter & { readonly afterDeadId?: string }): Promise<readonly DeadLetterView[]>;
  /** How many there are; the limit does not count. */
  countDead(filter: DeadFilter): Promise<number>;
  /** Puts dead letters back with a fresh count; the messages keep their ids. The `deadId`s of those it put back. */
  redrive(filter: DeadFilter): Promise<readonly string[]>;
  /** Deletes dead letters; how many. */
  purge(filter: DeadFilter): Promise<number>;
  /** Deletes what waits, delayed batches included, not what is in flight; how many batches. */
  clear(queue: string): Promise<number>;
  /** Deletes one waiting batch; false when it is in flight or gone. */
  cancel(queue: string, batchId: string): Promise<boolean>;
  /** Deletes the waiting batch that holds a unique key (J9), as `messageKey` writes it; false when none does, or it is in flight. */
  cancelKey(queue: string, key: string): Promise<boolean>;
  /** No node claims from it any more. What is in flight goes on. */
  pause(queue: string): Promise<void>;
  resume(queue: string): Promise<void>;
  /** The settings recorded of a queue; undefined where it was never registered. */
  settings(queue: string): Promise<unknown>;
  unconsumable(): Promise<readonly Unconsumable[]>;
  nodes(): Promise<readonly NodeView[]>;
  /** One statement for all queues; it gives up after 500 ms rather than burden a database that is busy. */
  gauges(): Promise<readonly QueueGauges[]>;
}
