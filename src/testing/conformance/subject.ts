/** A backend as the cases see it: with short ways to publish and claim, and, if asked for, with every batch stored twice. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type {
  Backend,
  ListenEvents,
  ListenSession,
  OpenTransaction,
  PollRequest,
  PollResult,
  Want,
} from "../../backend/backend.js";
import type { Batch, NewBatch } from "../../batch/batch.js";
import type { QueueDefinition, QueueSettings } from "../../queue/queue.js";
import { monotonicMs, pause } from "../../time.js";
import { decorate } from "../decorate.js";
import { twice } from "../duplicate-delivery.js";

/** How a subject is tested. */
export interface SubjectOptions {
  /** Store every batch twice: what at-least-once delivery may do anyway. */
  readonly duplicateDelivery?: boolean;
}

/** What a claim asks for besides the queues. */
export interface ClaimOptions extends Partial<Omit<PollRequest, "wants">> {
  readonly limit?: number;
  readonly version?: number;
  /** What one call may hold of several batches; absent: each is a call of its own. */
  readonly merge?: Want["merge"];
}

const settingsOfTests: QueueSettings = {
  exclusive: false,
  maxBatchMessages: 100,
  maxBatchBytes: 1_048_576,
  concurrency: 1,
  maxAttempts: 5,
  backoff: { initialMs: 0, factor: 1, maxMs: 0, jitter: 0 },
  buffer: false,
  orphanAfterMs: 8_000,
  staleAfterMs: 600_000,
  deadLetter: { retentionMs: 1_209_600_000 },
  version: 1,
  aliases: [],
  redact: [],
};

export class Subject {
  readonly backend: Backend;
  /** How often each batch is stored: cases count in multiples of it. */
  readonly copies: 1 | 2;
  readonly #sessions = new Set<ListenSession>();

  constructor(backend: Backend, { duplicateDelivery = false }: SubjectOptions = {}) {
    this.backend = duplicateDelivery ? storingTwice(backend) : backend;
    this.copies = duplicateDelivery ? 2 : 1;
  }

  /** A queue name, or an owner's, that nobody has used. */
  name(kind = "queue"): string {
    return `${kind} ${randomBytes(6).toString("hex")}`;
  }

  /** Registers a queue; its name. */
  async register(settings: Partial<QueueSettings> = {}, queue = this.name()): Promise<string> {
    await this.backend.register([this.definition(queue, settings)], "conformance");
    return queue;
  }

  definition(queue: string, settings: Partial<QueueSettings> = {}): QueueDefinition {
    return {
      name: queue,
      identifier: "queue",
      typeName: "Queue",
      settings: { ...settingsOfTests, ...settings },
      schema: {},
      schemaHash: "0".repeat(64),
      validatePublish: () => true,
      validateDeliver: () => true,
    };
  }

  /** Publishes one batch of these messages; the ids of what was stored, one per copy. */
  async publish(queue: string, messages: readonly unknown[] = [1], more: Partial<NewBatch> = {}): Promise<string[]> {
    const { ids } = await this.backend.publish([this.batch(queue, messages, more)]);
    return [...ids];
  }

  batch(queue: string, messages: readonly unknown[] = [1], more: Partial<NewBatch> = {}): NewBatch {
    const payload = JSON.stringify(messages);
    const sizes = { bytes: Buffer.byteLength(payload), messageCount: messages.length };
    return { queue, version: 1, priority: 100, payload, ...sizes, ...more };
  }

  async poll(queues: readonly string[], options: ClaimOptions = {}): Promise<PollResult> {
    const { limit = 100, version = 1, merge, ...more } = options;
    const want = { limit, version, ...(merge === undefined ? {} : { merge }) };
    return await this.backend.poll({
      owner: "a node",
      wants: queues.map((queue) => ({ queue, ...want })),
      maxBytes: 64 * 1024 * 1024,
      marks: [],
      maintain: false,
      recover: false,
      orphans: false,
      fallingAsleep: false,
      prune: false,
      ...more,
    });
  }

  async claim(queue: string, options: ClaimOptions = {}): Promise<readonly Batch[]> {
    return (await this.poll([queue], options)).batches;
  }

  /** Claims one batch, which must be there. */
  async claimOne(queue: string, options: ClaimOptions = {}): Promise<Batch> {
    const [batch] = await this.claim(queue, { ...options, limit: 1 });
    assert.ok(batch !== undefined, `nothing to claim in ${queue}`);
    return batch;
  }

  /** Publishes one batch and claims it. The other copy, where there is one, is claimed too and acknowledged. */
  async inFlight(queue: string, messages: readonly unknown[] = [1], more: Partial<NewBatch> = {}): Promise<Batch> {
    await this.publish(queue, messages, more);
    const batch = await this.claimOne(queue);
    const { pending } = await this.depth(queue);
    for (let left = pending; left > 0; left -= 1)
      assert.ok(await this.backend.inspector.cancel(queue, await this.#next(queue)));
    return batch;
  }

  /** Opens a session that hears; closed after the case, at the latest. */
  async listen(events: Partial<ListenEvents> = {}): Promise<ListenSession> {
    const nothing = () => undefined;
    const signal = new AbortController().signal;
    const session = await this.backend.listen({ onWake: nothing, onEcho: nothing, onDown: nothing, signal, ...events });
    this.#sessions.add(session);
    return session;
  }

  /** Ends what a case that failed half-way has left: an open session would keep the process from ending. */
  async tidy(): Promise<void> {
    const open = [...this.#sessions];
    this.#sessions.clear();
    await Promise.all(open.map((session) => session.close()));
  }

  async depth(queue: string) {
    const depths = await this.backend.inspector.depths();
    const found = depths.find((depth) => depth.queue === queue);
    return found ?? { queue, pending: 0, delayed: 0, processing: 0, dead: 0, atLeast: false, paused: false };
  }

  /** Asserts how many batches of the queue are where. */
  async assertDepth(
    queue: string,
    expected: { pending?: number; delayed?: number; processing?: number; dead?: number },
  ) {
    const { pending, delayed, processing, dead } = await this.depth(queue);
    assert.deepEqual(
      { pending, delayed, processing, dead },
      { pending: 0, delayed: 0, processing: 0, dead: 0, ...expected },
    );
  }

  /** Looks again and again until there is something. */
  async until<T>(look: () => Promise<T | undefined | false>, what: string, timeoutMs = 5_000): Promise<T> {
    const deadline = monotonicMs() + timeoutMs;
    for (;;) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      assert.ok(monotonicMs() < deadline, `after ${timeoutMs} ms: ${what}`);
      await pause(2);
    }
  }

  /**
   * Does what makes a batch wait, and claims it when its time has come: not before, by this process's clock, for the
   * backend's may be another.
   */
  async claimAfter(waitMs: number, queue: string, act: () => Promise<unknown>): Promise<Batch> {
    const begun = monotonicMs();
    await act();
    const batch = await this.until(
      async () => (await this.poll([queue], { maintain: true })).batches[0],
      "the batch was never given out",
    );
    const waitedMs = monotonicMs() - begun;
    assert.ok(waitedMs >= waitMs, `given out after ${waitedMs} of ${waitMs} ms`);
    return batch;
  }

  async #next(queue: string): Promise<string> {
    const [next] = await this.backend.inspector.peek(queue, "pending", 1);
    assert.ok(next !== undefined);
    return next.batchId;
  }
}

// All ids: the cases ask for each copy.
function storingTwice(backend: Backend): Backend {
  return decorate(backend, {
    publish: (batches, tx) => backend.publish(twice(batches), tx),
    begin: async (options) => publishingTwice(await backend.begin(options)),
  });
}

function publishingTwice(transaction: OpenTransaction): OpenTransaction {
  return { ...transaction, publish: (batches) => transaction.publish(twice(batches)) };
}
