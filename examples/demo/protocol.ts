/** What the demo's processes say to each other. Everything travels over node's own channel between parent and child. */
import type { WakeSource } from "../../src/instrument.js";

/** A message as its publisher knows it. */
export interface PublishedMessage {
  /** Its identity: travels in the header `seq`, so that the handler that receives it can say which one it was. */
  readonly seq: number;
  /** Equal for messages of which dedup keeps only the last: published together, with equal keys. */
  readonly dedupKey?: string;
}

/** An input line that was not published. */
export interface Refusal {
  readonly file: string;
  readonly line: number;
  /** JSON Pointer into the line's object; "" where the line is no JSON. */
  readonly pointer: string;
  readonly error: string;
}

export type FromWorker =
  | { readonly name: "ready" }
  | { readonly name: "woken"; readonly source: WakeSource }
  /** Asked to hang, a handler has recorded its messages and will never end. */
  | { readonly name: "hanging" };

export type FromPublisher =
  | { readonly name: "counted"; readonly lines: number }
  /** These promises have resolved; from here on none of them may be lost. */
  | { readonly name: "published"; readonly messages: readonly PublishedMessage[] }
  | { readonly name: "idleDone" }
  | { readonly name: "bulkDone"; readonly refusals: readonly Refusal[]; readonly deduplicated: number };

export type ToNode = { readonly name: "publishIdle" | "publishBulk" | "hang" | "stop" };

/** What a child process is told when it is started, as its only argument. */
export interface NodeTask {
  readonly connectionString: string;
  readonly schema: string;
  readonly node: string;
  readonly pollMs: number;
  readonly input: string;
  readonly messages?: number;
}

/** Tells the parent. */
export function tell(message: FromWorker | FromPublisher): void {
  process.send?.(message);
}

/** Calls the handler of each message from the parent; ends this process with the parent's, however that ended. */
export function obey(handlers: Partial<Record<ToNode["name"], () => Promise<void> | void>>): void {
  process.on("message", (message) => void handlers[(message as ToNode).name]?.());
  process.once("disconnect", () => process.exit(1));
  // Ctrl-C reaches every process of the terminal; the parent decides what it means.
  process.on("SIGINT", () => undefined);
}

export function taskOfThisProcess(): NodeTask {
  return JSON.parse(process.argv[2] ?? "{}") as NodeTask;
}

/** Milliseconds of a clock that all processes of one machine share, and that nobody sets. */
export function sharedClockMs(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}
