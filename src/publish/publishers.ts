/** The publishers of one client, each made at its first use, and what they share: the bound on what waits, the dedup rules. */
import type { QueueDefinition } from "../queue/queue.js";
import { Budget, type BudgetParams } from "./budget.js";
import type { DedupFunction } from "./dedup-function.js";
import { type PublishParams, QueuePublisher } from "./publish.js";

export interface PublishersParams extends Omit<PublishParams, "budget" | "dedupOf"> {
  readonly bounds: BudgetParams;
  /** The client's own dedup functions, by a queue's name or identifier. */
  readonly dedup: Readonly<Record<string, DedupFunction>>;
}

export class Publishers {
  readonly #params: PublishersParams;
  readonly #budget: Budget;
  readonly #byQueue = new Map<string, QueuePublisher>();

  constructor(params: PublishersParams) {
    this.#params = params;
    this.#budget = new Budget(params.bounds);
  }

  of(definition: QueueDefinition): QueuePublisher {
    const known = this.#byQueue.get(definition.name);
    if (known !== undefined) return known;
    const publisher = new QueuePublisher(definition, { ...this.#params, budget: this.#budget, dedupOf: this.dedupOf });
    this.#byQueue.set(definition.name, publisher);
    return publisher;
  }

  /** The client's own rule for a queue, in place of the queue's. */
  readonly dedupOf = ({ name, identifier }: QueueDefinition): DedupFunction | undefined => {
    return this.#params.dedup[name] ?? this.#params.dedup[identifier];
  };

  /** Messages waiting to be written, per queue that was ever published to. */
  bufferDepths(): ReadonlyMap<string, number> {
    return new Map([...this.#byQueue].map(([queue, { bufferDepth }]) => [queue, bufferDepth]));
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#byQueue.values()].map((publisher) => publisher.flush()));
  }

  /** Drops what could not be written so far: said, counted and rejected. */
  giveUp(): void {
    for (const publisher of this.#byQueue.values()) publisher.giveUp();
  }
}
