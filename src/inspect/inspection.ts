/** `mq.inspect`: what waits, what died, and what to do about it. */
import type { DeadLetterView, Depth, Inspector, NodeView, StoredBatch, Unconsumable } from "../backend/inspector.js";
import type { ScheduleBook, ScheduleView } from "../backend/schedule-book.js";
import { assertChosen } from "./inspect-options.js";
import { type PortionedOptions, type PortionedResult, portioned, portionedWork } from "./portioned.js";

/** Which dead letters. */
export interface DeadLetterFilter {
  readonly deadIds?: readonly string[];
  readonly reasons?: readonly DeadLetterView["reason"][];
}

export interface Inspection {
  /** Counts up to 10,000 per queue and status, with the age of the oldest that waits. */
  depths(): Promise<readonly Depth[]>;
  /**
   * The next batches of a queue, in the order in which they would be claimed. Default: pending ones, 20.
   * @throws PostriderError `ERR_CLIENT_OPTIONS`
   */
  peek(
    queue: string,
    options?: { readonly status?: StoredBatch["status"]; readonly limit?: number },
  ): Promise<readonly StoredBatch[]>;
  /**
   * Dead letters, oldest first, at most 1,000 or `limit`; `afterDeadId` goes on behind one. With error and remaining steps.
   * @throws PostriderError `ERR_CLIENT_OPTIONS`
   */
  dead(
    queue: string,
    options?: DeadLetterFilter & { readonly limit?: number; readonly afterDeadId?: string },
  ): Promise<readonly DeadLetterView[]>;
  /**
   * Puts dead letters back with a fresh count, oldest first; the messages keep their ids, their first publish time and their
   * history. In portions, so that any number goes with flat memory, and it can be stopped between two and called again. What
   * dies after it began is left alone.
   * @throws PostriderError `ERR_CLIENT_OPTIONS`
   */
  redrive(queue: string, options?: DeadLetterFilter & PortionedOptions): Promise<PortionedResult>;
  /** Deletes dead letters, as `redrive` puts them back. */
  purge(queue: string, options?: DeadLetterFilter & PortionedOptions): Promise<PortionedResult>;
  /** No node claims from the queue any more, from the next claim on; what is in flight goes on, what is delayed waits. */
  pause(queue: string): Promise<void>;
  resume(queue: string): Promise<void>;
  /** Batches that no live node can consume. */
  unconsumable(): Promise<readonly Unconsumable[]>;
  nodes(): Promise<readonly NodeView[]>;
  schedules(): Promise<readonly ScheduleView[]>;
}

export function inspectionOf(inspector: Inspector, schedules: ScheduleBook): Inspection {
  return Object.freeze({
    depths: () => inspector.depths(),
    peek: async (queue, options = {}) => {
      assertChosen(queue, options);
      return await inspector.peek(queue, options.status ?? "pending", options.limit);
    },
    dead: async (queue, options = {}) => {
      assertChosen(queue, options);
      return await inspector.dead({ ...options, queue });
    },
    redrive: async (queue, options = {}) => {
      return await portioned(
        inspector,
        portionedWork(queue, options),
        async (filter) => (await inspector.redrive(filter)).length,
      );
    },
    purge: async (queue, options = {}) => {
      return await portioned(inspector, portionedWork(queue, options), (filter) => inspector.purge(filter));
    },
    pause: (queue) => inspector.pause(queue),
    resume: (queue) => inspector.resume(queue),
    unconsumable: () => inspector.unconsumable(),
    nodes: () => inspector.nodes(),
    schedules: () => schedules.list(),
  } satisfies Inspection);
}
