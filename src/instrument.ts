/** The one choke point for telemetry: parts emit events, metrics and logs subscribe, and none of them can break delivery. */

/** Anything with these four: pino fits as it is. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Why the poller looked: heard of a publish, a slot was freed, a delayed batch is due, or just the poll interval. */
export type WakeSource = "notify" | "slot" | "timer" | "poll";

/** Batches taken back from dead or silent owners, per queue and reason. */
export interface Recovery {
  readonly queue: string;
  readonly reason: "orphan" | "stale";
  readonly recovered: number;
  readonly died: number;
}

/** What the metrics show of a queue (M2). */
export interface QueueGauges {
  readonly queue: string;
  /** Batches by status. Exact up to 10,000; above that an estimate, and `estimated` names the status. */
  readonly depths: Readonly<Record<"pending" | "delayed" | "processing" | "dead", number>>;
  readonly estimated: readonly string[];
  /** Since the oldest waiting message was published, by the database's clock; absent when none waits. */
  readonly oldestAgeMs?: number;
  /** Waiting batches that are newer than every live node which knows the queue. */
  readonly unconsumable: number;
}

/** What happens, by name. Sizes count messages unless they say batches. */
export interface Events {
  published: { readonly queue: string; readonly messages: number };
  deduplicated: { readonly queue: string; readonly messages: number };
  /** A write whose connection died unanswered and was repeated. */
  publishUnknown: { readonly queue: string; readonly messages: number };
  flushFailed: { readonly queue: string; readonly error: unknown };
  bufferDropped: { readonly queue: string; readonly messages: number; readonly error: unknown };
  /** A look for work that found some, and why the node looked. */
  woken: { readonly source: WakeSource; readonly batches: number };
  /** A round, whatever it found. */
  polled: { readonly result: "work" | "empty" | "error" };
  claimed: { readonly queue: string; readonly batchId: string; readonly messages: number; readonly publishedAt: Date };
  handled: {
    readonly queue: string;
    readonly batchIds: readonly string[];
    readonly status: HandledStatus;
    readonly durationMs: number;
  };
  handlerFailed: { readonly queue: string; readonly batchIds: readonly string[]; readonly error: unknown };
  retried: { readonly queue: string; readonly batchId: string };
  postponed: { readonly queue: string; readonly batchId: string };
  dead: { readonly queue: string; readonly batchId: string; readonly reason: string; readonly error: string };
  recovered: Recovery;
  leaseLost: { readonly queue: string; readonly batchId: string };
  /** The last `batches` batches of the queue all died of `schema`: this node does not claim it any more (D6). */
  refused: { readonly queue: string; readonly batches: number };
  /** A handler that did not end within 5 s of its time limit runs on (+1), or has ended at last (-1). */
  overdue: { readonly queue: string; readonly handlers: 1 | -1 };
  /** What the database holds, read every 30 s by a started client. */
  gauges: { readonly queues: readonly QueueGauges[] };
  listenerUp: Record<string, never>;
  listenerDown: { readonly error: Error; readonly attempts: number };
  /** A part failed and goes on. */
  error: { readonly part: string; readonly error: unknown };
}

/** How a handler call ended. */
export type HandledStatus = "ok" | "partial" | "failed" | "postponed" | "rejected" | "released";

export type EventName = keyof Events;

type Subscriber<Name extends EventName> = (event: Events[Name]) => void;

/** Emits to every subscriber; one that throws is told to nobody but the `error` subscribers. */
export class Instrument {
  readonly #subscribers = new Map<EventName, Set<Subscriber<never>>>();

  /** Subscribes; the returned function ends it. */
  on<Name extends EventName>(name: Name, subscriber: Subscriber<Name>): () => void {
    const all = this.#subscribers.get(name) ?? new Set();
    this.#subscribers.set(name, all);
    all.add(subscriber as Subscriber<never>);
    return () => all.delete(subscriber as Subscriber<never>);
  }

  emit<Name extends EventName>(name: Name, event: Events[Name]): void {
    const subscribers = this.#subscribers.get(name);
    // Most events have nobody who listens, and some are emitted for every batch.
    if (subscribers === undefined || subscribers.size === 0) return;
    for (const subscriber of subscribers) {
      try {
        (subscriber as Subscriber<Name>)(event);
      } catch (error) {
        // Telemetry must not break delivery; an error subscriber that throws itself ends here, or it would recur.
        if (name !== "error") this.emit("error", { part: `subscriber of ${name}`, error });
      }
    }
  }
}
