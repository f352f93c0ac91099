/** Real processes for tests: a TypeScript file run by node, that talks to the test by named messages and dies with it. */
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";

/** A message of a child process: its name and whatever else it says. See `report.ts` for the child's side. */
export interface ProcessMessage {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Settings of {@link startProcess}. */
export interface ProcessOptions {
  readonly args?: readonly string[];
  /** Added to this process's environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Nobody reads its standard output: the pipe is closed before anything is written to it. */
  readonly unread?: boolean;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that runs or has run. */
export interface TestProcess {
  readonly pid: number;
  /** Every message so far, in order. */
  readonly messages: readonly ProcessMessage[];
  /** Everything written to standard output and standard error so far. */
  readonly output: () => string;
  readonly ended: Promise<ProcessEnd>;
  send(message: ProcessMessage): void;
  /** The first message of this name that has not been waited for; rejects when the process ends or time is up first. */
  waitFor(name: string, timeoutMs?: number): Promise<ProcessMessage>;
  /** Sends a signal, SIGKILL by default, and waits until the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<ProcessEnd>;
  /** Sends a signal and does not wait: SIGSTOP, SIGCONT. */
  signal(signal: NodeJS.Signals): void;
}

const here = import.meta.url;
const flags = [
  "--conditions=postrider-source",
  "--import",
  import.meta.resolve("tsx"),
  "--import",
  new URL("./end-with-parent.ts", here).href,
];

/** Starts `file`, a path or a `file:` URL, as a node process. It is killed at the latest when this process ends. */
export function startProcess(file: string | URL, options: ProcessOptions = {}): TestProcess {
  const path = file instanceof URL || file.startsWith("file:") ? fileURLToPath(file) : file;
  const { args = [], env = {}, unread = false, ...rest } = options;
  const child = spawn(process.execPath, [...flags, path, ...args], {
    ...rest,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const messages: ProcessMessage[] = [];
  const arrivals = new EventEmitter();
  let output = "";
  let waitedFor = 0;
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  if (unread) child.stdout?.destroy();
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.on("message", (message) => {
    messages.push(message as ProcessMessage);
    arrivals.emit("message");
  });
  // "close" and not "exit": everything it wrote has arrived by then.
  const ended = once(child, "close").then(([code, signal]): ProcessEnd => ({ code, signal }));
  ended.then(
    () => arrivals.emit("message"),
    () => undefined,
  );
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;

  const waitFor = async (name: string, timeoutMs = 30_000): Promise<ProcessMessage> => {
    const signal = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const index = messages.findIndex((message, position) => position >= waitedFor && message.name === name);
      const found = messages[index];
      if (found !== undefined) {
        waitedFor = index + 1;
        return found;
      }
      if (isOver()) throw new Error(`${path} ended before it said "${name}":\n${output}`);
      await once(arrivals, "message", { signal }).catch((cause) => {
        throw new Error(`${path} did not say "${name}" within ${timeoutMs} ms:\n${output}`, { cause });
      });
    }
  };

  return {
    pid: child.pid ?? -1,
    messages,
    output: () => output,
    ended,
    waitFor,
    send: (message) => void child.send(message),
    signal: (signal) => void child.kill(signal),
    kill: (signal = "SIGKILL") => {
      if (!isOver()) child.kill(signal);
      return ended;
    },
  };
}
