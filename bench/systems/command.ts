/** What a scenario asks of a system's process, and what it answers. */

export type Command =
  | { readonly do: "prepare" }
  | { readonly do: "open" }
  /** Leaves the database; the process stays, with its code compiled, and opens again at its next command. */
  | { readonly do: "close" }
  /** So many callers for so long, each awaiting its own call of `size` messages. */
  | { readonly do: "publish"; readonly callers: number; readonly ms: number; readonly size: number }
  /** At a steady rate whatever the answers do: an open loop. */
  | { readonly do: "steady"; readonly rate: number; readonly ms: number }
  /** So many at once. */
  | { readonly do: "burst"; readonly count: number }
  /** Stores a backlog, spread over the queues. */
  | { readonly do: "fill"; readonly count: number }
  /** Delivers until the process stops; a call of the handler takes `handleMs`. `spans`: begin and end of each are reported. */
  | { readonly do: "consume"; readonly handleMs: number; readonly spans?: boolean }
  /** Resolves when so many messages were handled in all, or the time is up. */
  | { readonly do: "until"; readonly count: number; readonly limitMs: number }
  | { readonly do: "report" }
  /** Ends the process, after a last report. */
  | { readonly do: "stop" };

export interface Published {
  readonly messages: number;
  readonly ms: number;
  /** Time of a call, in ms. */
  readonly p50: number;
  readonly p99: number;
}

export type Span = readonly [beganAt: number, endedAt: number];

/** What was handled since the last report. */
export interface Handled {
  readonly messages: number;
  readonly calls: number;
  /** First and last delivery, in ms by the machine's monotonic clock. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** From publish to handler, of messages that say when they were sent. */
  readonly latencies: readonly number[];
  readonly orderIds: readonly string[];
  /** Begin and end of each handler call, in ms by the machine's monotonic clock; empty unless they were asked for. */
  readonly spans: readonly Span[];
  /** CPU time this process used, in ms. */
  readonly cpuMs: number;
}
