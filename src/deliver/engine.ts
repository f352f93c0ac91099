/** The listeners of a node and their slots: what may be claimed, and what is running. */
import type { Batch } from "../batch/batch.js";
import { PostriderError } from "../errors.js";
import type { QueueDefinition } from "../queue/queue.js";
import { pause } from "../time.js";
import type { Signal } from "../wake/signal.js";
import { type DeliverParams, deliver } from "./deliver.js";
import { crashesUntilAlone } from "./division.js";
import type { Handler } from "./handle.js";
import type { Listener } from "./handler.js";

/** One queue's listener on this node. */
interface Lane {
  readonly definition: QueueDefinition;
  readonly handler: Handler;
  readonly concurrency: number;
  readonly running: Set<Promise<void>>;
  /** Batches that run alone, those that wait for it included. Nothing is claimed beside them. */
  alone: number;
  stopping: boolean;
}

/** Payloads of one claim, and of everything a node holds (D7). */
const claimBytes = 64 * 1024 * 1024;
const heldBytes = 256 * 1024 * 1024;

export interface EngineParams extends Omit<DeliverParams, "definition" | "handler"> {
  readonly signal: Signal;
  /** Called when a listener ends: other nodes may take over what it will no longer claim. */
  readonly onLaneStopped: (queue: string) => void;
}

export class Engine {
  readonly #params: EngineParams;
  readonly #lanes = new Map<string, Lane>();
  readonly #hurry = new AbortController();
  #draining = false;

  constructor(params: EngineParams) {
    this.#params = params;
  }

  /** @throws PostriderError `ERR_LISTENER_EXISTS` */
  listen(definition: QueueDefinition, handler: Handler, concurrency: number): Listener {
    if (this.#lanes.has(definition.name)) {
      const message = `queue "${definition.name}" already has a listener in this client; stop it first`;
      throw new PostriderError("ERR_LISTENER_EXISTS", message, { details: { queue: definition.name } });
    }
    const lane: Lane = { definition, handler, concurrency, running: new Set(), alone: 0, stopping: false };
    this.#lanes.set(definition.name, lane);
    this.#params.signal.ring("slot");
    return { stop: () => this.#stopLane(lane) };
  }

  /** Queues with free slots, for the next claim. None while draining. */
  wants(): readonly { queue: string; limit: number; version: number }[] {
    if (this.#draining || this.roomBytes <= 0) return [];
    return [...this.#lanes.values()]
      .filter((lane) => !lane.stopping && lane.alone === 0 && lane.running.size < lane.concurrency)
      .map(({ definition, concurrency, running }) => ({
        queue: definition.name,
        limit: concurrency - running.size,
        version: definition.settings.version,
      }));
  }

  /** How many bytes of payload the next claim may bring. */
  get roomBytes(): number {
    return Math.min(claimBytes, heldBytes - this.#params.inFlight.bytes);
  }

  /** Starts the handlers of claimed batches. What has lost its listener meanwhile goes back. */
  submit(batches: readonly Batch[]): void {
    const { instrument, settler } = this.#params;
    for (const batch of batches) {
      const lane = this.#lanes.get(batch.queue);
      if (lane === undefined || lane.stopping || this.#draining) {
        void settler.release(batch, 0);
        continue;
      }
      const { queue, id: batchId, messageCount: messages, publishedAt } = batch;
      instrument.emit("claimed", { queue, batchId, messages, publishedAt });
      this.#run(lane, batch);
    }
  }

  /** Takes no new work; waits for what runs, at most until `timeoutMs`, then aborts it, and a second later lets it go. */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true;
    const { inFlight, settler } = this.#params;
    if (await this.#idleWithin(timeoutMs, this.#hurry.signal)) return;
    inFlight.abortAll(new Error("the client is stopping"));
    if (await this.#idleWithin(1_000)) return;
    const left = inFlight.leases() as readonly Batch[];
    await Promise.all(left.map((batch) => settler.release(batch, 0).finally(() => inFlight.letGo(batch))));
  }

  /** Cuts a drain short, after `timeoutMs` instead of its own limit: the second signal. */
  hurry(timeoutMs: number): void {
    if (this.#draining && timeoutMs === 0) this.#hurry.abort();
  }

  get running(): number {
    return [...this.#lanes.values()].reduce((sum, { running }) => sum + running.size, 0);
  }

  // A batch that has seen two crashes runs alone in its queue (R5): after what runs, and before what came with it.
  #run(lane: Lane, batch: Batch): void {
    const { definition, handler, running } = lane;
    const isAlone = batch.crashes >= crashesUntilAlone;
    const turn = isAlone || lane.alone > 0 ? Promise.all(running) : Promise.resolve();
    if (isAlone) lane.alone += 1;
    const run = deliver({ ...this.#params, definition, handler }, batch, turn).finally(() => {
      running.delete(run);
      if (isAlone) lane.alone -= 1;
      this.#params.signal.ring("slot");
    });
    running.add(run);
  }

  async #stopLane(lane: Lane): Promise<void> {
    lane.stopping = true;
    await Promise.all(lane.running);
    if (this.#lanes.get(lane.definition.name) !== lane) return;
    this.#lanes.delete(lane.definition.name);
    this.#params.onLaneStopped(lane.definition.name);
  }

  async #idleWithin(timeoutMs: number, cutShort?: AbortSignal): Promise<boolean> {
    const idle = new AbortController();
    const all = [...this.#lanes.values()].flatMap(({ running }) => [...running]);
    void Promise.all(all).then(() => idle.abort());
    await pause(timeoutMs, cutShort === undefined ? idle.signal : AbortSignal.any([idle.signal, cutShort]));
    return this.running === 0;
  }
}
