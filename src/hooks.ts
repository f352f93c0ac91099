/** What an application does when its client starts and stops (M5). */
import type { Instrument } from "./instrument.js";
import { runInRoot } from "./transaction/scope.js";

/** When a hook runs among the others. */
export interface HookOptions {
  /** Names it in the log, and decides among equal priorities. Default: the function's own name. */
  readonly name?: string;
  /** Smaller runs earlier. Default 500. */
  readonly priority?: number;
}

/** A function that runs when the client starts or stops. */
export type Hook = () => unknown | Promise<unknown>;

/** Registers hooks. Each call returns a function that takes the hook away again. */
export interface Hooks {
  /** Runs in `start()`, once, before anything is delivered. */
  start(hook: Hook, options?: HookOptions): () => void;
  /** Runs in `stop()`, once, after the handlers have ended; it may still publish. */
  stop(hook: Hook, options?: HookOptions): () => void;
}

interface Registered {
  readonly hook: Hook;
  readonly name: string;
  readonly priority: number;
}

export class ClientHooks implements Hooks {
  readonly #instrument: Instrument;
  readonly #registered = { start: new Set<Registered>(), stop: new Set<Registered>() };

  constructor(instrument: Instrument) {
    this.#instrument = instrument;
  }

  readonly start = (hook: Hook, options?: HookOptions) => this.#register("start", hook, options);

  readonly stop = (hook: Hook, options?: HookOptions) => this.#register("stop", hook, options);

  /** Runs them one after another, ascending, ties by name. One that fails is told, and the rest run. Never rejects. */
  async run(when: "start" | "stop"): Promise<void> {
    const inOrder = [...this.#registered[when]].sort((a, b) => a.priority - b.priority || (a.name < b.name ? -1 : 1));
    this.#registered[when].clear();
    for (const { hook, name } of inOrder) {
      try {
        await runInRoot(hook);
      } catch (error) {
        this.#instrument.emit("error", { part: `${when} hook "${name}"`, error });
      }
    }
  }

  #register(when: "start" | "stop", hook: Hook, { name = hook.name, priority = 500 }: HookOptions = {}): () => void {
    const registered = { hook, name, priority };
    this.#registered[when].add(registered);
    return () => this.#registered[when].delete(registered);
  }
}
