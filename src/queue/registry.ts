/** The queues a client knows (Q1, Q2, Q4). */
import { PostriderError } from "../errors.js";
import { nearest } from "./nearest.js";
import type { QueueDefinition } from "./queue.js";

export class QueueRegistry {
  readonly #byName = new Map<string, QueueDefinition>();

  /**
   * The same definition twice is a no-op.
   *
   * @throws PostriderError `ERR_QUEUE_CONFLICT`
   */
  add(definition: QueueDefinition): void {
    const known = this.#byName.get(definition.name);
    if (known === undefined) {
      this.#byName.set(definition.name, definition);
      return;
    }
    if (isSame(known, definition)) return;
    const text = `queue "${definition.name}" is declared twice, differently: ${sentenceOf(known)} and ${sentenceOf(definition)}`;
    throw new PostriderError("ERR_QUEUE_CONFLICT", text, { details: { queue: definition.name } });
  }

  /** @throws PostriderError `ERR_QUEUE_UNDECLARED`, with near names */
  get(name: string): QueueDefinition {
    const definition = this.#byName.get(name);
    if (definition !== undefined) return definition;
    const near = nearest(name, [...this.#byName.keys()]);
    const hint = near.length === 0 ? "" : `; did you mean ${near.map((other) => `"${other}"`).join(" or ")}?`;
    throw new PostriderError("ERR_QUEUE_UNDECLARED", `no schema file declares the queue "${name}"${hint}`, {
      details: { queue: name, near },
    });
  }

  all(): readonly QueueDefinition[] {
    return [...this.#byName.values()];
  }
}

function isSame(a: QueueDefinition, b: QueueDefinition): boolean {
  return a === b || (a.schemaHash === b.schemaHash && JSON.stringify(a.settings) === JSON.stringify(b.settings));
}

function sentenceOf({ source, schemaHash, settings }: QueueDefinition): string {
  return `${source ?? "made at run time"} (schema ${schemaHash.slice(0, 8)}, settings ${JSON.stringify(settings)})`;
}
