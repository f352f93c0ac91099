/** The listeners of a node and their slots: what may be claimed, and what is running. */
import type { Refusals, Want } from "../backend/backend.js";
import type { Batch, Lease } from "../batch/batch.js";
import { PostriderError } from "../errors.js";
import type { QueueDefinition } from "../queue/queue.js";
import { atMost } from "../time.js";
import type { Signal } from "../wake/signal.js";
import { type CallBatches, callsOf } from "./call-batches.js";
import { type DeliverParams, deliver } from "./deliver.js";
import { crashesUntilAlone } from "./division.js";
import type { Handler } from "./handle.js";
import type { Listener } from "./handler.js";
import { SchemaGuard } from "./schema-guard.js";

/** Who listens to a queue, and how. */
export interface Listening {
  readonly definition: QueueDefinition;
  readonly handler: Handler;
  readonly concurrency: number;
}

/** One queue's listener on this node. */
interface Lane extends Listening {
  /** Deliveries that are not over: their handlers run, or their outcomes are being written. */
  readonly running: Set<Promise<void>>;
  /** How many of them only have to be written: their slots are free again. */
  settling: number;
  /** Batches that run alone, those that wait for it included. Nothing is claimed beside them. */
  alone: number;
  stopping: boolean;
}

/** Payloads of one claim, and of everything a node holds (D7). */
const claimBytes = 64 * 1024 * 1024;
const heldBytes = 256 * 1024 * 1024;

/** Outcomes of one queue that may wait to be written while its next batches are handled. */
const maxSettling = 32;

export interface EngineParams extends Omit<DeliverParams, "definition" | "handler"> {
  readonly signal: Signal;
  /** Called when a listener ends: other nodes may take over what it will no longer claim. */
  readonly onLaneStopped: (queue: string) => void;
}

export class Engine {
  readonly #params: EngineParams;
  readonly #lanes = new Map<string, Lane>();
  /** Batches on their way back that never had a handler. */
  readonly #returning = new Set<Promise<void>>();
  readonly #guard: SchemaGuard;
  #draining = false;

  constructor(params: EngineParams) {
    this.#params = params;
    this.#guard = new SchemaGuard(params.instrument);
  }

  /** @throws PostriderError `ERR_LISTENER_EXISTS` */
  listen(definition: QueueDefinition, handler: Handler, concurrency: number): Listener {
    if (this.#lanes.has(definition.name)) {
      const message = `queue "${definition.name}" already has a listener in this client; stop it first`;
      throw new PostriderError("ERR_LISTENER_EXISTS", message, { details: { queue: definition.name } });
    }
    const lane: Lane = { definition, handler, concurrency, running: new Set(), settling: 0, alone: 0, stopping: false };
    this.#lanes.set(definition.name, lane);
    this.#params.signal.ring("slot");
    return { stop: () => this.#stopLane(lane) };
  }

  /** Queues with free slots, for the next claim. None while draining. */
  wants(): readonly Want[] {
    if (this.roomBytes <= 0) return [];
    return [...this.#lanes.values()]
      .filter((lane) => this.#hasRoom(lane))
      .map(({ definition: { name, settings }, concurrency, running, settling }) => ({
        queue: name,
        limit: concurrency - (running.size - settling),
        version: settings.version,
        ...(settings.exclusive
          ? {}
          : { merge: { messages: settings.maxBatchMessages, bytes: settings.maxBatchBytes } }),
      }));
  }

  /** How many bytes of payload the next claim may bring. */
  get roomBytes(): number {
    return Math.min(claimBytes, heldBytes - this.#params.inFlight.bytes);
  }

  /** Whether one of these queues has a free slot here. */
  wantsAny(queues: readonly string[]): boolean {
    return queues.some((queue) => {
      const lane = this.#lanes.get(queue);
      return lane !== undefined && this.#hasRoom(lane);
    });
  }

  /** Starts the handlers of claimed batches, those of one call together. What has lost its listener meanwhile goes back. */
  submit(batches: readonly Batch[]): void {
    for (const call of callsOf(batches)) {
      const [{ queue }] = call;
      const lane = this.#lanes.get(queue);
      if (lane === undefined || lane.stopping || this.#draining) {
        this.#giveBack(call);
        continue;
      }
      this.#run(lane, call);
      // Told after the handler was called: telemetry is not to delay it.
      for (const { id: batchId, messageCount: messages, publishedAt } of call) {
        this.#params.instrument.emit("claimed", { queue, batchId, messages, publishedAt });
      }
    }
  }

  /** Gives back what the database counts as ours and nobody here holds: a claim whose answer was lost. */
  disown(leases: readonly Lease[]): void {
    this.#giveBack(leases.filter((lease) => !this.#params.inFlight.isHeld(lease)));
  }

  /** No handler is started from here on: what a claim under way still brings goes back. */
  refuse(): void {
    this.#draining = true;
  }

  /**
   * Takes no new work; waits for what runs, at most until `timeoutMs` or until told to hurry, then aborts it, and a second
   * later, or almost at once when in a hurry, lets it go.
   */
  async drain(timeoutMs: number, hurry: AbortSignal): Promise<void> {
    this.refuse();
    const { inFlight, settler } = this.#params;
    const idle = Promise.all([...this.#lanes.values()].flatMap(({ running }) => [...running]));
    await atMost(timeoutMs, idle, hurry);
    if (this.running > 0) {
      inFlight.abortAll(new Error("the client is stopping"));
      // Also in a hurry, a moment for those that heed their signal: what they have done is settled instead of done again.
      await atMost(hurry.aborted ? 100 : 1_000, idle);
    }
    await atMost(1_000, Promise.all(this.#returning));
    const leases = inFlight.leases();
    // No longer held first: the handler, should it end now, has nothing to say about the batch any more.
    for (const lease of leases) inFlight.letGo(lease);
    this.#track(settler.release(leases, 0));
    // A database that is away must not keep the process: recovery takes back what could not be given back.
    await atMost(1_000, Promise.all(this.#returning));
  }

  /** Queues that are no longer claimed here because everything in them died of its schema (D6). */
  get refused(): readonly string[] {
    return this.#guard.stopped;
  }

  /** What the next round tells the database of them. */
  get refusals(): Refusals | undefined {
    return this.#guard.refusals;
  }

  noteHeard(refusals: Refusals): void {
    this.#guard.noteHeard(refusals);
  }

  /** Claims a queue again that is refused. */
  resume(queue: string): void {
    this.#guard.resume(queue);
    this.#params.signal.ring("slot");
  }

  get listeners(): readonly Listening[] {
    return [...this.#lanes.values()].map(({ definition, handler, concurrency }) => ({
      definition,
      handler,
      concurrency,
    }));
  }

  get running(): number {
    return [...this.#lanes.values()].reduce((sum, { running }) => sum + running.size, 0);
  }

  #hasRoom({ definition, stopping, alone, running, settling, concurrency }: Lane): boolean {
    if (this.#draining || stopping || alone > 0 || settling >= maxSettling) return false;
    if (this.#guard.isStopped(definition.name)) return false;
    return running.size - settling < concurrency;
  }

  // Held until then, so that it is tried again and the leases live on while the database does not answer.
  #giveBack(leases: readonly Lease[]): void {
    const { inFlight, settler } = this.#params;
    for (const lease of leases) inFlight.hold(lease, Number.POSITIVE_INFINITY, new AbortController());
    const given = settler.release(leases, 0).finally(() => {
      for (const lease of leases) inFlight.letGo(lease);
    });
    this.#track(given);
  }

  #track(returning: Promise<void>): void {
    const tracked = returning.finally(() => this.#returning.delete(tracked));
    this.#returning.add(tracked);
  }

  // A batch that has seen two crashes runs alone in its queue (R5): after what runs, and before what came with it.
  #run(lane: Lane, batches: CallBatches): void {
    const { definition, running } = lane;
    const isAlone = batches[0].crashes >= crashesUntilAlone;
    const turn = isAlone || lane.alone > 0 ? Promise.all(running) : undefined;
    if (isAlone) lane.alone += 1;
    let isSettling = false;
    // The next batches are claimed while these are acknowledged: a slow flush of the disk costs no handler time. Not where the
    // acknowledgement is what lets the next one in, and not for a batch that runs alone.
    const onHandled = () => {
      if (isAlone || isGated(definition)) return;
      isSettling = true;
      lane.settling += 1;
      this.#params.signal.ring("slot");
    };
    const run = this.#deliver(lane, batches, turn, onHandled).finally(() => {
      running.delete(run);
      if (isAlone) lane.alone -= 1;
      if (!isSettling || lane.settling === maxSettling) this.#params.signal.ring("slot");
      if (isSettling) lane.settling -= 1;
    });
    running.add(run);
  }

  // With `each` a call is no more than the slot its batches share: each is settled as soon as its own messages have ended.
  async #deliver(
    { definition, handler }: Lane,
    batches: CallBatches,
    turn: Promise<unknown> | undefined,
    onHandled: () => void,
  ): Promise<void> {
    const params = { ...this.#params, definition, handler };
    if (handler.kind === "batch" || batches.length === 1) return await deliver(params, batches, turn, onHandled);
    let unhandled = batches.length;
    const onOneHandled = () => {
      unhandled -= 1;
      if (unhandled === 0) onHandled();
    };
    await Promise.all(batches.map((batch) => deliver(params, [batch], turn, onOneHandled)));
  }

  async #stopLane(lane: Lane): Promise<void> {
    lane.stopping = true;
    await Promise.all(lane.running);
    if (this.#lanes.get(lane.definition.name) !== lane) return;
    this.#lanes.delete(lane.definition.name);
    this.#params.onLaneStopped(lane.definition.name);
  }
}

/** Whether the end of one batch is what lets the next one be claimed. */
function isGated({ settings }: QueueDefinition): boolean {
  return settings.exclusive || settings.maxInFlight !== undefined || settings.orderBy !== undefined;
}
