/** A batch as the memory backend keeps it, with the columns of the table it stands for. */
import { type Batch, messageId, type NewBatch, type UniqueKey } from "../../batch/batch.js";
import { decodePayload } from "../../batch/payload.js";
import { decodeChain } from "../../chain/chain.js";
import { chainViewOf } from "../chain-view.js";
import type { BatchView, Death } from "../inspector.js";

/** What a dead letter keeps of its batch. */
export interface RowContent {
  readonly queue: string;
  readonly priority: number;
  readonly version: number;
  readonly createdAt: number;
  readonly messageCount: number;
  readonly bytes: number;
  readonly payload: string;
  readonly meta?: string | undefined;
  /** Of a divided or redriven batch: the batch that gave its messages their ids, and when that was published. */
  readonly originId?: string | undefined;
  readonly originAt?: number | undefined;
  readonly positions?: readonly number[] | undefined;
  readonly maxAttempts?: number | undefined;
  readonly staleAfterMs?: number | undefined;
  /** Of a chain's step: the chain's state. */
  readonly chain?: string | undefined;
  readonly history?: readonly Death[] | undefined;
  readonly orderKey?: string | undefined;
  /** Absent once the key has been lost to another. */
  unique?: UniqueKey | undefined;
}

type Status = "pending" | "delayed" | "processing";

/** A stored batch. */
export interface Row extends RowContent {
  /** The id as a number: a process stores fewer than 2^53 batches. */
  readonly seq: number;
  readonly id: string;
  status: Status;
  availableAt?: number | undefined;
  heartbeatAt?: number | undefined;
  failures: number;
  crashes: number;
  owner?: string | undefined;
  token?: string | undefined;
  lastError?: string | undefined;
  messageCount: number;
  bytes: number;
  payload: string;
  meta?: string | undefined;
  positions?: readonly number[] | undefined;
  /** Progress was recorded, and its end must be too. */
  tracked?: boolean;
}

/** A batch given up. */
export interface DeadRow extends RowContent {
  readonly deadSeq: number;
  readonly batchId: string;
  readonly reason: "attempts" | "crash" | "schema" | "decode" | "rejected";
  readonly error: string;
  readonly diedAt: number;
  readonly failures: number;
  readonly crashes: number;
  readonly owner?: string | undefined;
}

/** What is stored of a batch that is new at this moment. */
export function contentOf(batch: NewBatch, createdAt: number): RowContent {
  return {
    queue: batch.queue,
    priority: batch.priority,
    version: batch.version,
    createdAt,
    messageCount: batch.messageCount,
    bytes: Buffer.byteLength(batch.payload),
    payload: batch.payload,
    meta: batch.meta,
    maxAttempts: batch.maxAttempts,
    staleAfterMs: batch.staleAfterMs,
    chain: batch.chain,
    orderKey: batch.orderKey,
    unique: batch.unique,
  };
}

/** A claimed row as its owner gets it. */
export function claimedBatch(row: Row, maxAttempts: number, call: number): Batch {
  return {
    queue: row.queue,
    id: row.id,
    token: row.token ?? "",
    failures: row.failures,
    crashes: row.crashes,
    priority: row.priority,
    version: row.version,
    messageCount: row.messageCount,
    bytes: row.bytes,
    payload: row.payload,
    publishedAt: new Date(row.originAt ?? row.createdAt),
    maxAttempts: row.maxAttempts ?? maxAttempts,
    call,
    originId: row.originId ?? row.id,
    ...(row.meta === undefined ? {} : { meta: row.meta }),
    ...(row.positions === undefined ? {} : { positions: row.positions }),
    ...(row.chain === undefined ? {} : { chainId: decodeChain(row.chain).id }),
  };
}

/** A row as operators see it. */
export function viewOf(
  row: RowContent & { failures: number; crashes: number; owner?: string | undefined },
  batchId: string,
  error: string | undefined,
): BatchView {
  const places = {
    originId: row.originId ?? batchId,
    ...(row.positions === undefined ? {} : { positions: row.positions }),
  };
  return {
    queue: row.queue,
    batchId,
    messageIds: (decodePayload(row.payload) ?? []).map((_, index) => messageId(places, index)),
    payload: row.payload,
    priority: row.priority,
    version: row.version,
    failures: row.failures,
    crashes: row.crashes,
    publishedAt: new Date(row.originAt ?? row.createdAt),
    ...(row.meta === undefined ? {} : { meta: row.meta }),
    ...(row.owner === undefined ? {} : { owner: row.owner }),
    ...(error === undefined ? {} : { error }),
    ...(row.chain === undefined ? {} : { chain: chainViewOf(row.chain) }),
    history: row.history ?? [],
  };
}
