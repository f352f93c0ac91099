/** Claims batches for a caller that settles them by hand: the same leases, fences and outcomes as a handler's (J1). */
import type { Backend } from "../backend/backend.js";
import type { Batch } from "../batch/batch.js";
import { PostriderError } from "../errors.js";
import type { Logger } from "../instrument.js";
import type { QueueDefinition } from "../queue/queue.js";
import { atMost } from "../time.js";
import { callOf } from "./call.js";
import { progressOf } from "./call-progress.js";
import type { DeliverParams } from "./deliver.js";
import { type Delivery, openDeliveries } from "./delivery.js";
import { divide, isSuspect } from "./division.js";
import type { Heartbeat } from "./heartbeat.js";
import { checkDelay, type Outcome, outcomeOfError } from "./outcome.js";
import type { PulledBatch } from "./pulled.js";
import { settleCall } from "./settle-call.js";

const claimBytes = 64 * 1024 * 1024;

export interface PullerParams extends Omit<DeliverParams, "definition" | "handler"> {
  readonly backend: Backend;
  readonly owner: string;
  readonly logger: Logger;
  /** Records the queue's settings, where the node has not done it at its start: SQL decides by them. */
  readonly register: (definition: QueueDefinition) => Promise<void>;
  /** Keeps the leases while something is out; undefined where the node does that anyway. */
  readonly makeHeartbeat: () => Heartbeat | undefined;
}

/** What only this client knows of a batch it has handed out. */
interface Out {
  readonly definition: QueueDefinition;
  readonly delivery: Delivery;
}

export class Puller {
  readonly #params: PullerParams;
  readonly #out = new Map<object, Out>();
  readonly #known = new WeakMap<object, Out>();
  readonly #aborts = new Map<object, AbortController>();
  #heartbeat: Heartbeat | undefined;
  #whenIdle: (() => void)[] = [];
  readonly #registered = new Map<string, Promise<void>>();
  #refusing = false;

  constructor(params: PullerParams) {
    this.#params = params;
  }

  /** @throws PostriderError `ERR_CLIENT_OPTIONS`, `ERR_CLIENT_STOPPED` */
  async pull(definition: QueueDefinition, { limit = 1 }: { readonly limit?: number }) {
    const { name: queue, settings } = definition;
    if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) {
      const message = `queue "${queue}": limit must be a whole number from 1 to 1000, found ${String(limit)}`;
      throw new PostriderError("ERR_CLIENT_OPTIONS", message, { details: { queue } });
    }
    if (this.#refusing)
      throw new PostriderError("ERR_CLIENT_STOPPED", "this client is stopping: it pulls nothing more");
    const { backend, owner, instrument } = this.#params;
    await this.#register(definition);
    const { batches, recovered } = await backend.poll({
      owner,
      wants: [{ queue, limit, version: settings.version }],
      maxBytes: claimBytes,
      marks: [],
      // There may be no node that does it.
      maintain: true,
      recover: true,
      orphans: false,
      fallingAsleep: false,
      prune: false,
    });
    for (const recovery of recovered) instrument.emit("recovered", recovery);
    return (await Promise.all(batches.map((batch) => this.#open(definition, batch)))).flat();
  }

  /** @throws PostriderError `ERR_FOREIGN_BATCH` */
  async ack(definition: QueueDefinition, batches: readonly PulledBatch<unknown>[]) {
    for (const batch of batches) {
      if (this.#known.get(batch)?.definition === definition) continue;
      const message = `queue "${definition.name}": batch ${String(batch?.batchId)} was not handed out by this queue of this client`;
      throw new PostriderError("ERR_FOREIGN_BATCH", message, { details: { queue: definition.name } });
    }
    // Acknowledgements of one turn of the loop leave together.
    const answers = await Promise.all(batches.map((batch) => batch.ack()));
    return batches.filter((_, index) => answers[index]);
  }

  /** Hands out nothing more, waits until everything is settled, at most so long, and aborts the signals of the rest. */
  async drain(timeoutMs: number, hurry: AbortSignal): Promise<void> {
    this.#refusing = true;
    if (this.#out.size > 0) await atMost(timeoutMs, new Promise<void>((idle) => this.#whenIdle.push(idle)), hurry);
    for (const abort of this.#aborts.values()) abort.abort(new Error("the client is stopping"));
  }

  async stop(): Promise<void> {
    await this.#heartbeat?.stop();
  }

  // Once; a failure is tried again by the next pull.
  #register(definition: QueueDefinition): Promise<void> {
    const registering = this.#registered.get(definition.name) ?? this.#params.register(definition);
    this.#registered.set(definition.name, registering);
    registering.catch(() => this.#registered.delete(definition.name));
    return registering;
  }

  // Held from here on; what does not fit the schema or must be divided is settled at once and never handed out.
  async #open(definition: QueueDefinition, batch: Batch): Promise<readonly PulledBatch<unknown>[]> {
    const { inFlight, settler, instrument } = this.#params;
    const { queue, id: batchId, messageCount: messages, publishedAt } = batch;
    instrument.emit("claimed", { queue, batchId, messages, publishedAt });
    const abort = new AbortController();
    inFlight.hold(batch, definition.settings.orphanAfterMs, abort);
    const [delivery] = await openDeliveries(definition, [batch], settler);
    if (delivery !== undefined && !isSuspect(delivery)) return [this.#handOut({ definition, delivery }, abort)];
    if (delivery !== undefined) await divide(settler, delivery);
    inFlight.letGo(batch);
    return [];
  }

  #handOut(out: Out, abort: AbortController): PulledBatch<unknown> {
    const { batch, messages, ids, headers } = out.delivery;
    const pulled: PulledBatch<unknown> = Object.freeze({
      queue: batch.queue,
      batchId: batch.id,
      messages,
      ids,
      headers,
      publishedAt: batch.publishedAt,
      attempt: batch.failures + 1,
      signal: abort.signal,
      progress: progressOf(this.#params.backend.progress, [batch]),
      ack: () => this.#settle(pulled, { kind: "ack" }),
      release: ({ delayMs = 0 }: { readonly delayMs?: number } = {}) => {
        checkDelay("release", delayMs);
        return this.#settle(pulled, delayMs === 0 ? { kind: "release" } : { kind: "postpone", delayMs });
      },
      fail: (error: unknown) => this.#settle(pulled, outcomeOfError(error, undefined)),
    });
    this.#out.set(pulled, out);
    this.#known.set(pulled, out);
    this.#aborts.set(pulled, abort);
    if (this.#heartbeat === undefined) {
      this.#heartbeat = this.#params.makeHeartbeat();
      void this.#heartbeat?.start();
    }
    return pulled;
  }

  // The first of several settlements counts; the others find the batch no longer out.
  async #settle(pulled: PulledBatch<unknown>, outcome: Outcome): Promise<boolean> {
    const out = this.#out.get(pulled);
    if (out === undefined) return false;
    this.#out.delete(pulled);
    const { definition, delivery } = out;
    const { inFlight, instrument } = this.#params;
    let ours = !inFlight.isLost(delivery.batch);
    const off = instrument.on("leaseLost", ({ batchId }) => {
      if (batchId === delivery.batch.id) ours = false;
    });
    try {
      await settleCall({ ...this.#params, definition }, callOf([delivery]), outcome);
    } finally {
      off();
      inFlight.letGo(delivery.batch);
      this.#aborts.delete(pulled);
      await this.#rest();
    }
    return ours;
  }

  async #rest(): Promise<void> {
    if (this.#aborts.size > 0) return;
    for (const idle of this.#whenIdle.splice(0)) idle();
    const heartbeat = this.#heartbeat;
    this.#heartbeat = undefined;
    await heartbeat?.stop();
  }
}
