/**
 * The tables of the memory backend, and the moves between them. A verb runs from beginning to end without awaiting, so that
 * it is as atomic as a statement.
 */
import { randomInt } from "node:crypto";
import type { Lease, NewBatch } from "../../batch/batch.js";
import { messageKey } from "../../batch/message-key.js";
import { decodePayload } from "../../batch/payload.js";
import { chainKey, decodeChain } from "../../chain/chain.js";
import type { OrderBy, Rate } from "../../queue/queue.js";
import type { Depth } from "../inspector.js";
import type { Progress, ProgressUpdate } from "../progress-store.js";
import { Keys } from "./keys.js";
import { Lines } from "./lines.js";
import type { KeptSchedule } from "./memory-schedules.js";
import { HandedOut } from "./rate.js";
import { contentOf, type DeadRow, type Row, type RowContent } from "./row.js";
import { SortedList } from "./sorted-list.js";

/** What the registry records of a queue. A queue that was never registered has these defaults. */
export interface QueueRecord {
  version: number;
  schemaHash: string | undefined;
  settings: unknown;
  maxAttempts: number;
  orphanAfterMs: number;
  staleAfterMs: number;
  deadLetter: boolean;
  retentionMs: number;
  paused: boolean;
  /** Compare-and-set slots: the batch in each. None for a plain queue. */
  slots: (string | undefined)[];
  orderBy: OrderBy | undefined;
  rate: Rate | undefined;
  readonly handedOut: HandedOut;
}

/** A node that has started. */
export interface NodeRecord {
  readonly name: string;
  readonly startedAt: number;
  versions: Readonly<Record<string, number>>;
  stoppedAt: number | undefined;
  hadSession: boolean;
  /** Queues it claims no more until they are resumed (D6). */
  readonly refused: Set<string>;
}

const defaults = (): QueueRecord => ({
  version: 1,
  schemaHash: undefined,
  settings: {},
  maxAttempts: 5,
  orphanAfterMs: 8_000,
  staleAfterMs: 600_000,
  deadLetter: true,
  retentionMs: 1_209_600_000,
  paused: false,
  slots: [],
  orderBy: undefined,
  rate: undefined,
  handedOut: new HandedOut(),
});

export class Store {
  /** The clock all times are taken from, in ms. */
  readonly now: () => number;
  readonly rows = new Map<string, Row>();
  readonly pending = new Map<string, SortedList<Row>>();
  readonly delayed = new SortedList<Row>((a, b) => (a.availableAt ?? 0) - (b.availableAt ?? 0) || a.seq - b.seq);
  readonly processing = new Map<string, Row>();
  readonly dead = new Map<number, DeadRow>();
  readonly nodes = new Map<string, NodeRecord>();
  /** Life locks: how many sessions hold each owner's. */
  readonly alive = new Map<string, number>();
  readonly progress = new Map<string, Progress>();
  readonly schedules = new Map<string, KeptSchedule>();
  /** Told of each progress that is written. */
  onProgress: (key: string) => void = () => undefined;
  readonly keys = new Keys();
  readonly lines = new Lines();
  readonly #queues = new Map<string, QueueRecord>();
  #lastSeq = 0;
  #lastDead = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  /** The queue's record, or the defaults. */
  queue(name: string): QueueRecord {
    return this.#queues.get(name) ?? defaults();
  }

  /** The queue's record, made where there is none, to be changed. */
  recordOf(name: string): QueueRecord {
    const record = this.queue(name);
    this.#queues.set(name, record);
    return record;
  }

  get queueNames(): readonly string[] {
    const names = new Set(this.#queues.keys());
    for (const { queue } of this.rows.values()) names.add(queue);
    for (const { queue } of this.dead.values()) names.add(queue);
    return [...names].sort();
  }

  /** Takes an id. Like a sequence's, it is gone even if nothing is stored under it. */
  nextId(): number {
    this.#lastSeq += 1;
    return this.#lastSeq;
  }

  /** The new row; where its key is taken and nothing gives way to it, the one that holds the key, and `stored` is false. */
  publish(batch: NewBatch, seq: number): { readonly row: Row; readonly stored: boolean } {
    const holder = this.keys.holderOf(batch);
    if (holder !== undefined) {
      if (holder.status === "processing" || batch.unique?.onConflict === "skip") return { row: holder, stored: false };
      this.remove(holder);
    }
    const now = this.now();
    const availableAt = batch.runAt?.getTime() ?? (batch.delayMs ? now + batch.delayMs : undefined);
    return { row: this.insert(contentOf(batch, now), { seq, availableAt }), stored: true };
  }

  /** A batch that the backend itself makes, of one message, in the line of that (J10). It has no unique key: it is to be stored. */
  inLine(batch: NewBatch): NewBatch {
    const { orderBy } = this.queue(batch.queue);
    const orderKey = orderBy === undefined ? undefined : messageKey([orderBy.by], decodePayload(batch.payload)?.[0]);
    return orderKey === undefined ? batch : { ...batch, orderKey };
  }

  insert(
    content: RowContent,
    state: {
      seq: number;
      availableAt?: number | undefined;
      failures?: number;
      crashes?: number;
      lastError?: string | undefined;
    },
  ): Row {
    const { seq, availableAt, failures = 0, crashes = 0, lastError } = state;
    const row: Row = { ...content, seq, id: String(seq), status: "pending", failures, crashes, lastError };
    this.rows.set(row.id, row);
    this.lines.join(row);
    this.#wait(row, availableAt);
    return row;
  }

  /** The row of a lease that is still held: the fence. */
  owned({ queue, id, token }: Lease): Row | undefined {
    const row = this.processing.get(id);
    return row !== undefined && row.queue === queue && row.token === token ? row : undefined;
  }

  take(row: Row, owner: string): void {
    this.#unlist(row);
    row.status = "processing";
    row.owner = owner;
    row.token = String(randomInt(2 ** 48 - 1));
    row.heartbeatAt = this.now();
    row.availableAt = undefined;
    this.processing.set(row.id, row);
    this.keys.run(row);
    this.lines.note(row, 1);
  }

  /** Ends a lease; the batch waits again, until then or for nothing. */
  giveBack(row: Row, availableAt?: number): void {
    this.#freeSlot(row);
    this.#endRun(row);
    row.owner = undefined;
    row.token = undefined;
    row.heartbeatAt = undefined;
    this.#wait(row, availableAt);
  }

  promote(row: Row): void {
    this.delayed.delete(row);
    this.#wait(row, undefined);
  }

  remove(row: Row): void {
    this.#freeSlot(row);
    this.#unlist(row);
    this.#endRun(row);
    this.rows.delete(row.id);
    this.keys.leave(row);
    this.lines.leave(row);
  }

  bury(row: Row, letter: Pick<DeadRow, "reason" | "error"> & Partial<DeadRow>): void {
    const { chain } = row;
    if (chain !== undefined) this.writeProgress(chainKey(decodeChain(chain).id), { state: "failed" });
    else if (row.tracked) this.writeProgress(row.id, { state: "failed" });
    if (this.queue(row.queue).deadLetter) this.#keep(row, letter);
  }

  writeProgress(key: string, { percent, stage, state = "running" }: ProgressUpdate): void {
    const known = this.progress.get(key);
    const shown = stage ?? known?.stage;
    this.progress.set(key, {
      key,
      percent: Math.max(0, Math.min(100, percent ?? known?.percent ?? 0)),
      state,
      updatedAt: new Date(this.now()),
      ...(shown === undefined ? {} : { stage: shown }),
    });
    this.onProgress(key);
  }

  depth(queue: string): Depth {
    const waiting = this.pending.get(queue);
    const [oldest] = waiting?.items ?? [];
    const count = (rows: Iterable<RowContent>) => [...rows].filter((row) => row.queue === queue).length;
    return {
      queue,
      pending: waiting?.size ?? 0,
      delayed: count(this.delayed.items),
      processing: count(this.processing.values()),
      dead: count(this.dead.values()),
      atLeast: false,
      paused: this.queue(queue).paused,
      ...(oldest === undefined ? {} : { oldestAt: new Date(oldest.originAt ?? oldest.createdAt) }),
    };
  }

  #keep(row: Row, letter: Pick<DeadRow, "reason" | "error"> & Partial<DeadRow>): void {
    this.#lastDead += 1;
    const { queue, priority, version, createdAt, messageCount, bytes, payload, meta, orderKey, unique } = row;
    const { originId, originAt, positions, maxAttempts, staleAfterMs, chain, history, failures, crashes, owner } = row;
    const content = { queue, priority, version, createdAt, messageCount, bytes, payload, meta, orderKey, unique };
    const rest = { originId, originAt, positions, maxAttempts, staleAfterMs, chain, history, failures, crashes, owner };
    const death = { deadSeq: this.#lastDead, batchId: row.id, diedAt: this.now() };
    this.dead.set(this.#lastDead, { ...content, ...rest, ...death, ...letter });
  }

  #endRun(row: Row): void {
    if (this.processing.delete(row.id)) this.lines.note(row, -1);
  }

  #wait(row: Row, availableAt: number | undefined): void {
    this.keys.hold(row);
    row.availableAt = availableAt;
    row.status = availableAt === undefined ? "pending" : "delayed";
    if (row.status === "delayed") {
      this.delayed.add(row);
      return;
    }
    const waiting = this.pending.get(row.queue) ?? new SortedList(claimOrder);
    this.pending.set(row.queue, waiting);
    waiting.add(row);
  }

  #unlist(row: Row): void {
    if (row.status === "pending") this.pending.get(row.queue)?.delete(row);
    if (row.status === "delayed") this.delayed.delete(row);
  }

  #freeSlot({ queue, id }: Row): void {
    const { slots } = this.queue(queue);
    const slot = slots.indexOf(id);
    if (slot !== -1) slots[slot] = undefined;
  }
}

function claimOrder(a: Row, b: Row): number {
  return a.priority - b.priority || a.seq - b.seq;
}
