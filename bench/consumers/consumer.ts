/** A consuming process of a benchmark, as its parent sees it. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export interface Consumer {
  /** Latencies in ms since the last time it was asked. */
  latencies(): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** Starts a file of this folder and waits until it is ready. */
export async function startConsumer(file: string, connectionString: string): Promise<Consumer> {
  const child = fork(join(import.meta.dirname, file), [connectionString], { execArgv: ["--import", "tsx"] });
  await answer(child);
  return {
    latencies: async () => {
      child.send("report");
      return (await answer(child)) as number[];
    },
    stop: async () => {
      const ended = once(child, "exit");
      child.send("stop");
      await ended;
    },
  };
}

async function answer(child: ChildProcess): Promise<unknown> {
  const answered = new AbortController();
  const { signal } = answered;
  try {
    const [message] = await Promise.race([
      once(child, "message", { signal }),
      once(child, "exit", { signal }).then(([code]) => {
        throw new Error(`a consumer ended early, with exit code ${code}`);
      }),
    ]);
    return message;
  } finally {
    answered.abort();
  }
}

/** The consuming side: says it is ready, answers reports, stops when told. */
export function serve(stop: () => Promise<void>): { record(sentAt: string): void } {
  let latencies: number[] = [];
  process.on("message", (message) => {
    if (message === "report") {
      process.send?.(latencies);
      latencies = [];
      return;
    }
    void stop().then(() => process.disconnect());
  });
  process.send?.("ready");
  return { record: (sentAt) => latencies.push(Number(process.hrtime.bigint() - BigInt(sentAt)) / 1e6) };
}

/** The monotonic clock of the machine: the same in all its processes. */
export function now(): string {
  return process.hrtime.bigint().toString();
}
