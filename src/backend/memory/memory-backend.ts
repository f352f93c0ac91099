/**
 * The backend in memory: the same verbs under the same contract as on PostgreSQL, for one process. Nothing outlives it.
 * Several clients may share one backend; they are then the nodes of a cluster.
 */
import type { Lease, NewBatch } from "../../batch/batch.js";
import type { QueueDefinition } from "../../queue/queue.js";
import type { SqlExecutor } from "../../transaction/executors.js";
import type {
  Backend,
  DeadBatch,
  Division,
  FailedBatch,
  ListenEvents,
  ListenSession,
  OpenTransaction,
  PartialSettlement,
  PollRequest,
  PollResult,
  RegistryDifference,
  Stored,
} from "../backend.js";
import type { Inspector } from "../inspector.js";
import { claim, rateDueInMs } from "./claim.js";
import { MemoryInspector } from "./memory-inspector.js";
import { MemoryProgress } from "./memory-progress.js";
import { MemorySchedules } from "./memory-schedules.js";
import { MemorySession } from "./memory-session.js";
import { noDatabase, openMemoryTransaction } from "./memory-transaction.js";
import { recover } from "./recover.js";
import { register } from "./register.js";
import { ack, deadLetter, divide, heartbeat, release, retry, settlePart } from "./settle.js";
import { Store } from "./store.js";

/** Options of {@link MemoryBackend}. */
export interface MemoryBackendOptions {
  /** The clock that all times are taken from, in ms since 1970. Default: one that only goes forward, as the database's does. */
  readonly now?: () => number;
}

export class MemoryBackend implements Backend {
  readonly inspector: Inspector;
  readonly progress: MemoryProgress;
  readonly schedules: MemorySchedules;
  readonly #store: Store;
  readonly #sessions = new Set<MemorySession>();

  constructor({ now = () => performance.timeOrigin + performance.now() }: MemoryBackendOptions = {}) {
    this.#store = new Store(now);
    const wake = (queue: string) => this.#tell([queue], true);
    this.inspector = new MemoryInspector(this.#store, wake);
    this.progress = new MemoryProgress(this.#store);
    this.schedules = new MemorySchedules(this.#store, wake);
    this.#store.onProgress = (key) => {
      for (const session of this.#sessions) session.hearProgress(key);
    };
  }

  async publish(batches: readonly NewBatch[], tx?: SqlExecutor): Promise<Stored> {
    if (tx !== undefined) await noDatabase.query("");
    const placed = batches.map((batch) => this.#store.publish(batch, this.#store.nextId()));
    for (const { row, stored } of placed) if (stored) this.#tell([row.queue], row.status === "delayed");
    const skipped = new Set([...placed.keys()].filter((place) => placed[place]?.stored === false));
    return { ids: placed.map(({ row }) => row.id), announced: true, ...(skipped.size === 0 ? {} : { skipped }) };
  }

  async begin(): Promise<OpenTransaction> {
    return openMemoryTransaction(this.#store, this);
  }

  async wake(queues: readonly string[], marked: boolean): Promise<void> {
    this.#tell(queues, marked);
  }

  async poll(request: PollRequest): Promise<PollResult> {
    if (request.prune) this.#prune();
    const recovered = request.recover ? recover(this.#store, request.orphans) : [];
    const promoted = request.maintain ? this.#promote() : [];
    const batches = claim(this.#store, request);
    const moved = [...promoted, ...recovered.map(({ queue }) => queue)];
    const left = moved.filter((queue) => (this.#store.pending.get(queue)?.size ?? 0) > 0);
    if (left.length > 0) this.#tell(left, true);
    const dueInMs = this.#dueInMs(request);
    const resumed = this.#keepRefusals(request);
    return { batches, recovered, resumed, publishing: false, ...(dueInMs === undefined ? {} : { dueInMs }) };
  }

  #keepRefusals({ owner, refusals: { fresh, known } = { fresh: [], known: [] } }: PollRequest): readonly string[] {
    const refused = this.#store.nodes.get(owner)?.refused;
    for (const queue of fresh) refused?.add(queue);
    return known.filter((queue) => refused?.has(queue) === false);
  }

  async ack(leases: readonly Lease[]) {
    return ack(this.#store, leases, (queue) => this.#tell([queue], true));
  }

  async retry(failures: readonly FailedBatch[]) {
    return retry(this.#store, failures);
  }

  async deadLetter(batches: readonly DeadBatch[]) {
    return deadLetter(this.#store, batches);
  }

  async release(leases: readonly Lease[], delayMs: number) {
    const ids = release(this.#store, leases, delayMs);
    const queues = leases.filter(({ id }) => ids.has(id)).map(({ queue }) => queue);
    this.#tell(queues, true);
    return ids;
  }

  async settlePart(settlement: PartialSettlement) {
    return settlePart(this.#store, settlement);
  }

  async divide(division: Division) {
    const ids = divide(this.#store, division);
    if (ids.length > 0) this.#tell([division.lease.queue], true);
    return ids;
  }

  async heartbeat(leases: readonly Lease[]) {
    return heartbeat(this.#store, leases);
  }

  async register(definitions: readonly QueueDefinition[]): Promise<readonly RegistryDifference[]> {
    return definitions.flatMap((definition) => register(this.#store, definition));
  }

  async listen(events: ListenEvents): Promise<ListenSession> {
    events.signal.throwIfAborted();
    const session = new MemorySession(this.#store, events, (closed) => this.#sessions.delete(closed));
    this.#sessions.add(session);
    return session;
  }

  async echo(nonce: string): Promise<void> {
    for (const session of this.#sessions) session.hearEcho(nonce);
  }

  async check(): Promise<void> {}

  async noteNode(owner: string, name: string, versions?: Readonly<Record<string, number>>): Promise<void> {
    const { nodes, now } = this.#store;
    const node = nodes.get(owner);
    if (versions === undefined) {
      if (node !== undefined) node.stoppedAt = now();
      return;
    }
    const { hadSession = false, refused = new Set<string>() } = node ?? {};
    nodes.set(owner, { name, startedAt: now(), versions, stoppedAt: undefined, hadSession, refused });
  }

  isPassing(): boolean {
    return false;
  }

  isUnanswered(): boolean {
    return false;
  }

  /** Keeps what is stored: the next client may go on with it. */
  async close(): Promise<void> {}

  #dueInMs({ wants, maintain }: PollRequest): number | undefined {
    const { availableAt } = (maintain ? this.#store.delayed.items[0] : undefined) ?? {};
    const delayed = availableAt === undefined ? Infinity : Math.max(0, Math.ceil(availableAt - this.#store.now()));
    const due = Math.min(delayed, rateDueInMs(this.#store, wants));
    return due === Infinity ? undefined : due;
  }

  #promote(): string[] {
    const now = this.#store.now();
    const due = this.#store.delayed.first(1_000, ({ availableAt = 0 }) => availableAt <= now);
    for (const row of due) this.#store.promote(row);
    return due.map(({ queue }) => queue);
  }

  #prune(): void {
    const { dead, nodes, now } = this.#store;
    for (const [seq, { queue, diedAt }] of dead) {
      if (diedAt < now() - this.#store.queue(queue).retentionMs) dead.delete(seq);
    }
    for (const [owner, { stoppedAt }] of nodes) {
      if (stoppedAt !== undefined && stoppedAt < now() - 7 * 86_400_000) nodes.delete(owner);
    }
  }

  #tell(queues: readonly string[], marked: boolean): void {
    for (const session of this.#sessions) session.hear(queues, marked);
  }
}
