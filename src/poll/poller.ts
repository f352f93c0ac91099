/**
 * The loop that claims. One round looks for work for the free slots and returns how long to wait; everything that says
 * "look now" rings the same signal. Falling asleep follows the protocol of 3 steps that cannot lose a wake-up:
 *
 *   C1  take SLEEP for the queues with free slots, on the LISTEN session: publishers notify from here on
 *   C2  probe PUB: while a publishing transaction is open, keep looking (its row may appear without a notification)
 *   C3  look once more, with a new snapshot; only when that is empty too, sleep
 *   C4  having found work, give SLEEP back: a busy node costs publishers nothing
 *
 * C2 and C3 are one call (`fallingAsleep`). A publisher commits, then reads SLEEP; the poller takes SLEEP, then reads the
 * table: one of the two must see the other.
 */
import type { Backend, ListenSession, PollRequest, PollResult, Refusals } from "../backend/backend.js";
import type { Batch, Lease } from "../batch/batch.js";
import type { Instrument, WakeSource } from "../instrument.js";
import type { Service } from "../service.js";
import { doublingMs, jitterDown, monotonicMs, pause } from "../time.js";
import type { Signal, Wakened } from "../wake/signal.js";
import { LowWater } from "./low-water.js";

/** Between two maintenance rounds of a busy node, in ms; one that falls asleep maintains whenever it does. */
const maintainEveryMs = 1_000;
/** Between two deletions of what is kept no longer, in ms. */
const pruneEveryMs = 60_000;
/** A node whose notified looks have been in vain for this long lets others go first (W7): at least as long as a claim takes. */
const inVainForMs = 1_000;
const herdMs = { least: 2, most: 5 } as const;
/** How long after an unanswered claim the server may still carry it out. */
const unansweredForMs = 30_000;

/** The node's handlers, as far as the poller is concerned. */
export interface Slots {
  /** Queues with free slots: how many, and the newest message version this node knows. */
  wants(): PollRequest["wants"];
  /** How many bytes of payload the next claim may bring. */
  readonly roomBytes: number;
  submit(batches: readonly Batch[]): void;
  /** What the node refuses by itself, told with each round until it is resumed (D6). */
  readonly refusals: Refusals | undefined;
  noteHeard(refusals: Refusals): void;
  resume(queue: string): void;
  /** Gives back what the database counts as ours and nobody here holds: a claim whose answer was lost. */
  disown(leases: readonly Lease[]): void;
}

export interface PollerParams {
  readonly backend: Backend;
  readonly slots: Slots;
  readonly signal: Signal;
  readonly instrument: Instrument;
  readonly owner: string;
  readonly pollMs: number;
  /** The session that is proved to hear, and how long it has stood. */
  readonly session: () => ListenSession | undefined;
  readonly sessionUpForMs: () => number;
  /** A node looks for orphans only once its own session has stood this long. */
  readonly orphanAfterMs: () => number;
}

/** What a round leaves to do: wait this long, unless something rings first. */
interface Rest {
  readonly ms: number;
  readonly otherwise: WakeSource;
}

type Upkeep = Pick<PollRequest, "maintain" | "recover" | "orphans" | "prune">;

function isAnyDue({ maintain, recover }: Upkeep): boolean {
  return maintain || recover;
}

export class Poller implements Service {
  readonly #params: PollerParams;
  #stopped = false;
  #running: Promise<void> | undefined;
  /** Queues whose SLEEP this node holds, and the session that holds it: a new session holds nothing. */
  readonly #asleepOn = new Set<string>();
  #asleepIn: ListenSession | undefined;
  /** C2 and C3 have been passed for everything in `#asleepOn`. */
  #soundAsleep = false;
  #maintainedAt = Number.NEGATIVE_INFINITY;
  #recoveredAt = Number.NEGATIVE_INFINITY;
  // Not at once: ten nodes that start together would all do it.
  #pruneAt = monotonicMs() + jitterDown(pruneEveryMs, 1);
  readonly #lowWater = new LowWater();
  #dueAt = Number.POSITIVE_INFINITY;
  /** Until then the database may count batches as ours that we never heard of: the answer to a claim was lost. */
  #unansweredUntil = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #publishingSteps = 0;
  /** When work was last found, and whether the last notified look found none. */
  #foundAt = Number.NEGATIVE_INFINITY;
  #inVain = false;
  /** When a round last succeeded, by the wall clock, for `health()`. */
  lastRoundAt: Date | undefined;

  constructor(params: PollerParams) {
    this.#params = params;
    // A batch of ours that waits makes the known due time stale.
    const look = ({ queue }: { queue: string }) => {
      this.#maintainedAt = Number.NEGATIVE_INFINITY;
      this.#lowWater.forget(queue);
      params.signal.ring("slot");
    };
    params.instrument.on("retried", look);
    params.instrument.on("postponed", look);
  }

  /** Whether the last round failed. */
  get failing(): boolean {
    return this.#failures > 0;
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#params.signal.ring("poll");
    await this.#running;
  }

  async #run(): Promise<void> {
    let wakened: Wakened = { source: "poll", marked: true };
    while (!this.#stopped) {
      const rest = await this.round(wakened);
      wakened = await this.#params.signal.wait(rest.ms, rest.otherwise);
      if (wakened.source === "notify") await this.#letOthersGoFirst();
    }
    await this.#rise();
  }

  // A notification wakes every idle node, and all but one look in vain, just when the first needs the machine to handle what it
  // found: with two nodes on two cores half a millisecond of its latency. Who found work lately looks at once.
  async #letOthersGoFirst(): Promise<void> {
    if (this.#inVain && this.#foundNothingLately())
      await pause(herdMs.least + Math.random() * (herdMs.most - herdMs.least));
  }

  #foundNothingLately(): boolean {
    return monotonicMs() - this.#foundAt > inVainForMs;
  }

  /** One round. Never rejects: the loop survives everything. */
  async round({ source, marked }: Wakened): Promise<Rest> {
    if (marked) {
      this.#maintainedAt = Number.NEGATIVE_INFINITY;
      this.#lowWater.forget();
    }
    try {
      const rest = await this.#look(source);
      this.#failures = 0;
      this.lastRoundAt = new Date();
      return rest;
    } catch (error) {
      if (this.#params.backend.isUnanswered(error)) this.#unansweredUntil = monotonicMs() + unansweredForMs;
      this.#params.instrument.emit("error", { part: "poller", error });
      this.#params.instrument.emit("polled", { result: "error" });
      this.#failures += 1;
      this.#maintainedAt = Number.NEGATIVE_INFINITY;
      return { ms: doublingMs(this.#failures - 1, 100, 5_000), otherwise: "poll" };
    }
  }

  async #look(source: WakeSource): Promise<Rest> {
    await this.#disownUnheard();
    // Every slot is taken and nothing is due: what rang was a slot that has found its work meanwhile, or news for later.
    if (this.#params.slots.wants().length === 0 && !isAnyDue(this.#upkeep(source, false)))
      return this.#untilNext(source);
    const first = await this.#poll(source, false);
    // A node is told of its own publish twice, by itself and by the notification: the second look is no sign of others.
    if (source === "notify") this.#inVain = first.batches.length === 0 && this.#foundNothingLately();
    if (first.batches.length > 0) {
      await this.#rise();
      // Look again at once while slots are free: what is there may be more than was asked for.
      return this.#params.slots.wants().length > 0 ? { ms: 0, otherwise: source } : this.#untilNext(source);
    }
    await this.#fallAsleep();
    if (this.#asleepIn === undefined || this.#soundAsleep) return this.#untilNext(source);
    const second = await this.#poll(source, true);
    if (second.batches.length > 0) return await this.#goOn(source);
    if (!second.publishing) {
      this.#soundAsleep = true;
      return this.#untilNext(source);
    }
    // Somebody's publishing transaction is open: 2 ms, growing to 250 ms. Its lock was the notice, not the poll interval.
    const stepMs = doublingMs(this.#publishingSteps, 2, 250);
    this.#publishingSteps += 1;
    return { ms: Math.min(stepMs, this.#untilNext(source).ms), otherwise: "notify" };
  }

  /** Having found work: looks again at once while slots are free, for what is there may be more than was asked for. */
  async #goOn(source: WakeSource): Promise<Rest> {
    await this.#rise();
    return this.#params.slots.wants().length > 0 ? { ms: 0, otherwise: source } : this.#untilNext(source);
  }

  /** C1, for queues that have a free slot and are not held yet. Whatever is new makes C2 and C3 due again. */
  async #fallAsleep(): Promise<void> {
    const session = this.#params.session();
    if (session !== this.#asleepIn) this.#forgetSleep();
    this.#asleepIn = session;
    const queues = this.#params.slots.wants().flatMap(({ queue }) => (this.#asleepOn.has(queue) ? [] : [queue]));
    if (session === undefined || queues.length === 0) return;
    this.#soundAsleep = false;
    await session.fallAsleep(queues);
    for (const queue of queues) this.#asleepOn.add(queue);
  }

  #forgetSleep(): void {
    this.#asleepIn = undefined;
    this.#asleepOn.clear();
    this.#soundAsleep = false;
    this.#publishingSteps = 0;
  }

  /** C4. Not awaited on the wire by anybody: the session runs its statements in order. */
  async #rise(): Promise<void> {
    if (this.#asleepIn === undefined) return;
    const session = this.#asleepIn;
    this.#forgetSleep();
    // A session that is gone has taken its locks with it.
    session.rise().catch(() => undefined);
  }

  /** What a look does beside claiming. */
  #upkeep(source: WakeSource, fallingAsleep: boolean): Upkeep {
    const { pollMs, sessionUpForMs, orphanAfterMs } = this.#params;
    const now = monotonicMs();
    // Woken by a message it looks for that first: asleep, it knows what is due, and it looks again before it goes back to sleep.
    const isWoken = this.#soundAsleep && source === "notify";
    const everyMs = isWoken
      ? { maintain: pollMs, recover: pollMs }
      : { maintain: maintainEveryMs, recover: pollMs * 0.7 };
    // Falling asleep, always: only a due time that was read after C1 is known not to be overtaken in silence.
    const maintain = fallingAsleep || now - this.#maintainedAt >= everyMs.maintain || now >= this.#dueAt;
    const orphans = sessionUpForMs() >= orphanAfterMs();
    // Behind a long snapshot recovery reads every batch that was ever in flight: once per pollMs is promised, no more.
    const recover = !fallingAsleep && now - this.#recoveredAt >= everyMs.recover;
    return { maintain, recover, orphans, prune: recover && now >= this.#pruneAt };
  }

  async #poll(source: WakeSource, fallingAsleep: boolean): Promise<PollResult> {
    const { backend, slots, instrument, owner } = this.#params;
    const now = monotonicMs();
    const { maintain, recover, orphans, prune } = this.#upkeep(source, fallingAsleep);
    const [wants, refusals] = [slots.wants(), slots.refusals];
    const queues = wants.map(({ queue }) => queue);
    const marks = this.#lowWater.marks(queues, now);
    // Before the answer: what waits from now on may not be in it, and must make it stale.
    if (maintain) this.#maintainedAt = now;
    const result = await backend.poll({
      owner,
      wants,
      maxBytes: slots.roomBytes,
      marks,
      maintain,
      recover,
      orphans,
      fallingAsleep,
      prune,
      refusals,
    });
    if (refusals !== undefined) slots.noteHeard(refusals);
    for (const queue of result.resumed ?? []) slots.resume(queue);
    this.#lowWater.note(result, { queues, marks, now });
    if (recover) this.#recoveredAt = now;
    if (prune) this.#pruneAt = now + jitterDown(pruneEveryMs);
    const dueAt = result.dueInMs === undefined ? Number.POSITIVE_INFINITY : monotonicMs() + result.dueInMs;
    // Without maintenance it is only what a limited queue holds back: one due time more.
    this.#dueAt = maintain ? dueAt : Math.min(this.#dueAt, dueAt);
    for (const recovery of result.recovered) instrument.emit("recovered", recovery);
    instrument.emit("polled", { result: result.batches.length > 0 ? "work" : "empty" });
    slots.submit(result.batches);
    if (result.batches.length > 0) {
      this.#foundAt = now;
      // A notification that came while the node looked would have made it look: it is what the work is owed to.
      const owedTo = this.#params.signal.isNotified ? "notify" : source;
      instrument.emit("woken", { source: owedTo, batches: result.batches.length });
    }
    return result;
  }

  // A batch that was claimed for us without our knowing has nobody at work on it, and an owner that lives: nobody else
  // would take it back before it is stale.
  async #disownUnheard(): Promise<void> {
    if (monotonicMs() >= this.#unansweredUntil) return;
    const { backend, slots, owner } = this.#params;
    slots.disown((await backend.leasesOf?.(owner)) ?? []);
  }

  // Spread once, when the poll interval begins to count: what follows keeps its step, so that an idle node looks no more often
  // than it promises (W6), and nodes that were woken together do not march together.
  #untilNext(source: WakeSource): Rest {
    const now = monotonicMs();
    const longest = now < this.#unansweredUntil ? maintainEveryMs : this.#params.pollMs;
    const interval = Math.min(longest, this.#params.pollMs);
    const poll = source === "poll" ? interval : jitterDown(interval);
    // A node without a free slot looks for nothing, so no look of its would ever be full.
    const full = this.#params.slots.wants().length > 0 ? this.#lowWater.fullDueInMs(now) : Number.POSITIVE_INFINITY;
    const due = Math.max(0, Math.min(this.#dueAt - now, full));
    return due < poll ? { ms: due, otherwise: "timer" } : { ms: poll, otherwise: "poll" };
  }
}
