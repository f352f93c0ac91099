/** A system in a process of its own, as a scenario sees it. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { nodeOfSystems, type SystemEntry } from "./catalogue.js";
import type { Command, Handled, Published } from "./command.js";
import type { SystemOptions } from "./system.js";

interface Pending {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

let started = 0;

/** Starts a process for the system; it opens its connections at its first command. */
export async function startSystem(entry: SystemEntry, options: SystemOptions): Promise<SystemProcess> {
  started += 1;
  const json = JSON.stringify({ ...options, tag: `${process.pid}.${started}` });
  const child = fork(join(import.meta.dirname, "worker.ts"), [entry.file, json], {
    cwd: join(import.meta.dirname, "..", ".."),
    execPath: nodeOfSystems(),
    // The same view of the product as here (built or from source), and no test runner.
    execArgv: process.execArgv.filter((argument) => !argument.startsWith("--test")),
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
  const system = new SystemProcess(entry.title, child);
  await system.ready;
  return system;
}

export class SystemProcess {
  readonly ready: Promise<unknown>;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #asked = 0;

  constructor(title: string, child: ChildProcess) {
    this.#child = child;
    this.ready = new Promise((resolve, reject) => this.#pending.set(0, { resolve, reject }));
    child.on("message", ({ id, answer, error }: { id: number; answer?: unknown; error?: string }) => {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) pending?.resolve(answer);
      else pending?.reject(new Error(`${title}: ${error}`));
    });
    child.on("exit", (code, signal) => {
      const error = new Error(`the process of ${title} ended early, with ${signal ?? `exit code ${code}`}`);
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  async #ask(command: Command): Promise<unknown> {
    const id = ++this.#asked;
    return await new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#child.send({ id, command }, (error) => error && reject(error));
    });
  }

  async prepare(): Promise<void> {
    await this.#ask({ do: "prepare" });
  }

  /** Opens the system now, so that the first measurement does not. */
  async open(): Promise<void> {
    await this.#ask({ do: "open" });
  }

  /** Gives back its connections and keeps the process: the next command opens it again. */
  async close(): Promise<void> {
    await this.#ask({ do: "close" });
  }

  async publish(wanted: { callers: number; ms: number; size: number }): Promise<Published> {
    return (await this.#ask({ do: "publish", ...wanted })) as Published;
  }

  /** @returns how many were sent */
  async steady(wanted: { rate: number; ms: number }): Promise<number> {
    return (await this.#ask({ do: "steady", ...wanted })) as number;
  }

  /** @returns how many were sent */
  async burst(count: number): Promise<number> {
    return (await this.#ask({ do: "burst", count })) as number;
  }

  /** @returns how many were stored: `count`, rounded up to a multiple of the queues */
  async fill(count: number): Promise<number> {
    return (await this.#ask({ do: "fill", count })) as number;
  }

  async consume(handleMs = 0, spans = false): Promise<void> {
    await this.#ask({ do: "consume", handleMs, spans });
  }

  /** Waits until this process has handled so many messages, or the time is up. */
  async until(count: number, limitMs: number): Promise<void> {
    await this.#ask({ do: "until", count, limitMs });
  }

  async report(): Promise<Handled> {
    return (await this.#ask({ do: "report" })) as Handled;
  }

  /** As a crash does, without a word. */
  async kill(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  /** Ends the process; what was handled since the last report, unless it has ended before. */
  async stop(): Promise<Handled | undefined> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return undefined;
    const ended = once(this.#child, "exit");
    const last = (await this.#ask({ do: "stop" })) as Handled;
    await ended;
    return last;
  }
}
