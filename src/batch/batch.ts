/**
 * What travels: a batch is a row, a message is one element of its payload.
 *
 *   pending ──claim──> processing ──ack──> (gone)
 *      ^                  │  │  └──────────> dead      given up: attempts, crash, schema, decode, rejected
 *      │                  │  ├─retry──> delayed ──promote──> pending
 *      │                  │  └─divide─> (gone), and a batch of its own, pending or delayed, for each message
 *      └──release, recover┘
 *
 * Ids are strings: they are 64-bit in the database, and a number loses them past 2^53.
 */

/** A batch that is not stored yet. */
export interface NewBatch {
  readonly queue: string;
  readonly version: number;
  /** JSON array of messages. */
  readonly payload: string;
  readonly bytes: number;
  readonly messageCount: number;
  /** JSON array of header objects, as long as the payload's; absent when no message has any. */
  readonly meta?: string;
  readonly priority: number;
  /** Counted from the insert, by the database's clock. */
  readonly delayMs?: number;
  readonly runAt?: Date;
  readonly maxAttempts?: number;
  readonly staleAfterMs?: number;
  /** Of a chain's step: the chain's state, see `chain/chain.ts`. */
  readonly chain?: string;
  /** The line it stands in (J10): batches of one key run one after another, where the queue is registered with `orderBy`. */
  readonly orderKey?: string;
  /** At most one batch of this queue holds the key (J9). */
  readonly unique?: UniqueKey;
}

/** The key of a batch, and what happens where it is taken. */
export interface UniqueKey {
  readonly key: string;
  /** Whether the key is also held while the batch runs; otherwise only while it waits. */
  readonly whileRunning: boolean;
  /** Replace: what waits under the key gives way. What runs never does: the new one is skipped then. */
  readonly onConflict: "skip" | "replace";
}

/** The right to settle one batch. The token is random per claim: a late owner's statement matches nothing. */
export interface Lease {
  readonly queue: string;
  readonly id: string;
  readonly token: string;
}

/** A claimed batch. */
export interface Batch extends Lease {
  readonly failures: number;
  readonly crashes: number;
  readonly priority: number;
  readonly version: number;
  readonly messageCount: number;
  /** Of the payload as stored. */
  readonly bytes: number;
  readonly payload: string;
  readonly meta?: string;
  readonly publishedAt: Date;
  /** Deliveries before the dead letters, the publish's own or the queue's. */
  readonly maxAttempts: number;
  /** The batch that gave the messages their ids; this one, unless it was divided or redriven. */
  readonly originId: string;
  /** The messages' places in that batch; absent: 0, 1, 2 … */
  readonly positions?: readonly number[];
  /** Which handler call of its queue and claim it belongs to, counted from 1 (D1). */
  readonly call: number;
  /** Of a chain's step. */
  readonly chainId?: string;
}

/** The id of a message, the same through retry, division, dead letter and redrive (D13). */
export function messageId(batch: Pick<Batch, "originId" | "positions">, index: number): string {
  return `${batch.originId}.${batch.positions?.[index] ?? index}`;
}
