/**
 * Settles, with every heartbeat, the messages of running `each` calls that have ended: a crash then repeats only the rest (D3).
 * What a call comes to at its end is written as if this had not been: a message leaves its batch once, however often it is said.
 */

import { type Delivery, restOf, singleOf, withoutMessages } from "./delivery.js";
import type { EachOutcomes } from "./each-outcomes.js";
import type { Settler } from "./settle.js";

interface Running {
  readonly delivery: Delivery;
  readonly outcomes: EachOutcomes;
  /** Indexes that have left the batch. */
  readonly gone: Set<number>;
  /** Of those, what was given up. */
  readonly buried: Set<number>;
  writing: Promise<void> | undefined;
}

export class Finished {
  readonly #settler: Settler;
  readonly #running = new Set<Running>();

  constructor(settler: Settler) {
    this.#settler = settler;
  }

  /** From here on until the returned function is called, which answers the indexes that are in the dead letters already. */
  watch(delivery: Delivery, outcomes: EachOutcomes): () => Promise<ReadonlySet<number>> {
    const call: Running = { delivery, outcomes, gone: new Set(), buried: new Set(), writing: undefined };
    this.#running.add(call);
    return async () => {
      this.#running.delete(call);
      await call.writing;
      return call.buried;
    };
  }

  /** Never rejects: what could not be written is tried again with the next heartbeat, and at the latest with the outcome. */
  async settle(): Promise<void> {
    await Promise.all(
      [...this.#running].map((call) => {
        call.writing ??= this.#settleOne(call).finally(() => {
          call.writing = undefined;
        });
        return call.writing;
      }),
    );
  }

  async #settleOne({ delivery, outcomes, gone, buried }: Running): Promise<void> {
    const { done, rejected } = outcomes.finished();
    const leaving = new Set([...done, ...rejected.keys()]);
    if (leaving.size === gone.size) return;
    const rest = withoutMessages(delivery, leaving);
    // All have ended: the outcome of the call is about to be written.
    if (rest === undefined) return;
    const dead = [...rejected].flatMap(([index, { message: error }]) =>
      buried.has(index) ? [] : { ...singleOf(delivery, index), reason: "rejected" as const, error },
    );
    if (!(await this.#settler.partOfRunning(delivery.batch, { dead, rest: restOf(rest) }))) return;
    for (const index of leaving) gone.add(index);
    for (const index of rejected.keys()) buried.add(index);
  }
}
