/** A session that hears the memory backend's wake-ups. */
import type { Lease } from "../../batch/batch.js";
import type { ListenEvents, ListenSession } from "../backend.js";
import { heartbeat } from "./settle.js";
import type { Store } from "./store.js";

export class MemorySession implements ListenSession {
  readonly #store: Store;
  readonly #events: ListenEvents;
  readonly #onClose: (session: MemorySession) => void;
  readonly #asleepOn = new Set<string>();
  #owner: string | undefined;
  #closed = false;
  readonly #onStop = () => {
    void this.close();
    this.#events.onDown(this.#events.signal.reason);
  };

  constructor(store: Store, events: ListenEvents, onClose: (session: MemorySession) => void) {
    this.#store = store;
    this.#events = events;
    this.#onClose = onClose;
    events.signal.addEventListener("abort", this.#onStop, { once: true });
  }

  async fallAsleep(queues: readonly string[]): Promise<void> {
    for (const queue of queues) this.#asleepOn.add(queue);
  }

  async rise(): Promise<void> {
    this.#asleepOn.clear();
  }

  async liveAs(owner: string): Promise<void> {
    const { alive, nodes } = this.#store;
    this.#owner = owner;
    alive.set(owner, (alive.get(owner) ?? 0) + 1);
    const node = nodes.get(owner);
    if (node !== undefined) node.hadSession = true;
  }

  async heartbeat(leases: readonly Lease[]) {
    return heartbeat(this.#store, leases);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#events.signal.removeEventListener("abort", this.#onStop);
    this.#asleepOn.clear();
    this.#onClose(this);
    if (this.#owner === undefined) return;
    const { alive } = this.#store;
    const left = (alive.get(this.#owner) ?? 1) - 1;
    if (left === 0) alive.delete(this.#owner);
    else alive.set(this.#owner, left);
  }

  hear(queues: readonly string[], marked: boolean): void {
    if (queues.some((queue) => this.#asleepOn.has(queue))) this.#later(() => this.#events.onWake(marked));
  }

  hearEcho(nonce: string): void {
    this.#later(() => this.#events.onEcho(nonce));
  }

  hearProgress(key: string): void {
    this.#later(() => this.#events.onProgress?.(key));
  }

  // After the verb that caused it, as a notification comes after the commit.
  #later(tell: () => void): void {
    setImmediate(() => {
      if (!this.#closed) tell();
    });
  }
}
