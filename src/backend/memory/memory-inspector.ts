/** What operators ask and do, on the memory backend's tables. */
import { chainKey, decodeChain } from "../../chain/chain.js";

import type { QueueGauges } from "../../instrument.js";
import type {
  DeadFilter,
  DeadLetterView,
  Depth,
  Inspector,
  NodeView,
  StoredBatch,
  Unconsumable,
} from "../inspector.js";
import { type DeadRow, type Row, viewOf } from "./row.js";
import type { NodeRecord, Store } from "./store.js";

const defaultLimit = 1_000;
/** Deaths that are remembered. */
const longestHistory = 20;

export class MemoryInspector implements Inspector {
  readonly #store: Store;
  readonly #wake: (queue: string) => void;

  constructor(store: Store, wake: (queue: string) => void) {
    this.#store = store;
    this.#wake = wake;
  }

  async depths(): Promise<readonly Depth[]> {
    return this.#store.queueNames.map((queue) => this.#store.depth(queue));
  }

  async peek(queue: string, status: StoredBatch["status"], limit = 20): Promise<readonly StoredBatch[]> {
    const rows = this.#waiting(queue, status).slice(0, limit);
    return rows.map((row) => ({
      ...viewOf(row, row.id, row.lastError),
      status: row.status,
      ...(row.availableAt === undefined ? {} : { availableAt: new Date(row.availableAt) }),
    }));
  }

  async dead(filter: DeadFilter & { readonly afterDeadId?: string }): Promise<readonly DeadLetterView[]> {
    const after = Number(filter.afterDeadId ?? 0);
    return this.#letters(filter, after).map((row) => ({
      ...viewOf(row, row.batchId, row.error),
      deadId: String(row.deadSeq),
      reason: row.reason,
      diedAt: new Date(row.diedAt),
    }));
  }

  async countDead(filter: DeadFilter): Promise<number> {
    return this.#letters({ ...filter, limit: Number.POSITIVE_INFINITY }).length;
  }

  async redrive(filter: DeadFilter): Promise<readonly string[]> {
    const letters = this.#letters(filter);
    for (const letter of letters) {
      this.#store.dead.delete(letter.deadSeq);
      const origin = { originId: letter.originId ?? letter.batchId, originAt: letter.originAt ?? letter.createdAt };
      const { deadSeq: _, batchId, reason, error, diedAt, failures, crashes, owner, ...content } = letter;
      const death = {
        reason,
        error,
        failures,
        crashes,
        diedAt: new Date(diedAt),
        ...(owner === undefined ? {} : { owner }),
      };
      const history = [...(letter.history ?? []), death].slice(-longestHistory);
      if (letter.chain !== undefined) this.#store.writeProgress(chainKey(decodeChain(letter.chain).id), {});
      this.#store.insert(
        { ...content, ...origin, history, createdAt: this.#store.now() },
        { seq: this.#store.nextId(), lastError: error },
      );
    }
    if (letters.length > 0) this.#wake(filter.queue);
    return letters.map(({ deadSeq }) => String(deadSeq));
  }

  async purge(filter: DeadFilter): Promise<number> {
    const letters = this.#letters(filter);
    for (const { deadSeq } of letters) this.#store.dead.delete(deadSeq);
    return letters.length;
  }

  async clear(queue: string): Promise<number> {
    const rows = [...this.#waiting(queue, "pending"), ...this.#waiting(queue, "delayed")];
    for (const row of rows) this.#store.remove(row);
    return rows.length;
  }

  async cancel(queue: string, batchId: string): Promise<boolean> {
    const row = this.#store.rows.get(batchId);
    if (row === undefined || row.queue !== queue || row.status === "processing") return false;
    this.#store.remove(row);
    return true;
  }

  async cancelKey(queue: string, key: string): Promise<boolean> {
    const holder = this.#store.keys.holder(queue, key);
    return holder !== undefined && (await this.cancel(queue, holder.id));
  }

  async pause(queue: string): Promise<void> {
    this.#store.recordOf(queue).paused = true;
  }

  async resume(queue: string): Promise<void> {
    this.#store.recordOf(queue).paused = false;
    for (const { refused } of this.#store.nodes.values()) refused.delete(queue);
    this.#wake(queue);
  }

  async settings(queue: string): Promise<unknown> {
    const { settings, schemaHash } = this.#store.queue(queue);
    return schemaHash === undefined ? undefined : settings;
  }

  async unconsumable(): Promise<readonly Unconsumable[]> {
    const known = new Map<string, number>();
    for (const [owner, node] of this.#store.nodes) {
      if (!this.#isAlive(owner, node)) continue;
      for (const [queue, version] of Object.entries(node.versions)) {
        known.set(queue, Math.max(version, known.get(queue) ?? version));
      }
    }
    return [...known].flatMap(([queue, knownVersion]) => {
      const batches = this.#waiting(queue, "pending").filter(({ version }) => version > knownVersion).length;
      return batches === 0 ? [] : [{ queue, knownVersion, batches }];
    });
  }

  async nodes(): Promise<readonly NodeView[]> {
    return [...this.#store.nodes].reverse().map(([owner, node]) => ({
      owner,
      name: node.name,
      startedAt: new Date(node.startedAt),
      alive: this.#isAlive(owner, node),
      refused: [...node.refused],
      ...(node.stoppedAt === undefined ? {} : { stoppedAt: new Date(node.stoppedAt) }),
    }));
  }

  async gauges(): Promise<readonly QueueGauges[]> {
    const unconsumable = new Map((await this.unconsumable()).map(({ queue, batches }) => [queue, batches]));
    return (await this.depths()).map(({ queue, pending, delayed, processing, dead, oldestAt }) => ({
      queue,
      depths: { pending, delayed, processing, dead },
      estimated: [],
      unconsumable: unconsumable.get(queue) ?? 0,
      ...(oldestAt === undefined ? {} : { oldestAgeMs: Math.max(0, this.#store.now() - oldestAt.getTime()) }),
    }));
  }

  #isAlive(owner: string, { stoppedAt, hadSession }: NodeRecord): boolean {
    return stoppedAt === undefined && (!hadSession || this.#store.alive.has(owner));
  }

  #waiting(queue: string, status: StoredBatch["status"]): Row[] {
    if (status === "pending") return [...(this.#store.pending.get(queue)?.items ?? [])];
    const rows = status === "delayed" ? this.#store.delayed.items : [...this.#store.processing.values()];
    return rows.filter((row) => row.queue === queue);
  }

  #letters({ queue, deadIds, reasons, limit = defaultLimit }: DeadFilter, after = 0): DeadRow[] {
    return [...this.#store.dead.values()]
      .filter((row) => row.queue === queue && row.deadSeq > after)
      .filter((row) => deadIds === undefined || deadIds.includes(String(row.deadSeq)))
      .filter((row) => reasons === undefined || reasons.includes(row.reason))
      .slice(0, limit);
  }
}
