/** A child process of the demo: real, with a memory and a connection of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FromPublisher, FromWorker, NodeTask, ToNode } from "./protocol.js";

type Said = FromWorker | FromPublisher;

export class ChildNode extends EventEmitter<{ said: [Said] }> {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(file: string, task: NodeTask) {
    super();
    this.name = task.node;
    const flags = ["--conditions=postrider-source", "--import", import.meta.resolve("tsx")];
    const path = fileURLToPath(new URL(file, import.meta.url));
    // Its output goes to standard error: standard output is for the result alone.
    this.#child = spawn(process.execPath, [...flags, path, JSON.stringify(task)], { stdio: ["ignore", 2, 2, "ipc"] });
    this.#child.on("message", (message) => this.emit("said", message as Said));
    this.#ended = once(this.#child, "exit");
  }

  /** The next message of this name. Rejects when the process ends first, or when `signal` is aborted. */
  hear<Name extends Said["name"]>(name: Name, signal?: AbortSignal): Promise<Extract<Said, { name: Name }>> {
    return new Promise((resolve, reject) => {
      // One listener for as long as it takes: several messages may arrive at once.
      const onSaid = (said: Said) => {
        if (said.name === name) end(() => resolve(said as Extract<Said, { name: Name }>));
      };
      const onExit = () => end(() => reject(new Error(`${this.name} ended before it said "${name}"`)));
      const onAbort = () => end(() => reject(signal?.reason));
      const end = (settle: () => void) => {
        this.off("said", onSaid);
        this.#child.off("exit", onExit);
        signal?.removeEventListener("abort", onAbort);
        settle();
      };
      this.on("said", onSaid);
      this.#child.once("exit", onExit);
      signal?.addEventListener("abort", onAbort, { once: true });
      if (this.#isOver) onExit();
    });
  }

  tell(name: ToNode["name"]): void {
    if (this.#child.connected) this.#child.send({ name } satisfies ToNode);
  }

  /** As the system does it when memory runs out: at once, with nothing said. */
  async kill(): Promise<void> {
    if (!this.#isOver) this.#child.kill("SIGKILL");
    await this.#ended;
  }

  /** Lets it end in order; after `timeoutMs` it is killed. */
  async stop(timeoutMs = 10_000): Promise<void> {
    if (this.#isOver) return;
    this.tell("stop");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), timeoutMs);
    await this.#ended;
    clearTimeout(timer);
  }

  get #isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
