/** What the product promises of its speed. A comparison's pledge names the promise it judges; the report has a line for each. */

interface Promised {
  readonly says: string;
  /** The scenario that judges it. */
  readonly scenario: string;
}

const all = {
  "publish-one": {
    says: "One awaiting publisher stores at least 0.7 of what single-row INSERTs into a bare two-column table store (0.8 is the aim)",
    scenario: "publish",
  },
  "publish-64-plain": {
    says: "64 awaiting publishers: at least 8 times plain single-row INSERTs by 64 callers",
    scenario: "publish",
  },
  "publish-64-peers": {
    says: "64 awaiting publishers: at least 80 times pg-boss and graphile-worker",
    scenario: "publish",
  },
  "publish-bulk": {
    says: "In bulk: at least 0.75 of plain SQL that puts 100 messages into a row",
    scenario: "publish",
  },
  "drain-plain": {
    says: "Emptying a backlog of 100,000 by one process: at least 0.6 of plain SQL with 100 messages a row",
    scenario: "drain",
  },
  "drain-peers": { says: "The same: at least 12 times the best of the peers", scenario: "drain" },
  "both-plain": {
    says: "64 callers publish while one process consumes: at least 5 times plain single-row SQL",
    scenario: "publish-while-consuming",
  },
  "both-peers": {
    says: "The same: at least 60 times pg-boss and graphile-worker",
    scenario: "publish-while-consuming",
  },
  "both-p99": { says: "The same: p99 from publish to handler under one second", scenario: "publish-while-consuming" },
  "latency-p50": {
    says: "From publish to handler across processes, p50: at most 4 ms at 10 messages a second, 2.5 ms at 100 and 1,000",
    scenario: "latency",
  },
  "latency-p99": { says: "The same, p99: at most 15 ms", scenario: "latency" },
  "latency-plain": { says: "The same, p50: at most 1.5 times plain SQL that does the same job", scenario: "latency" },
  "latency-peers": { says: "The same, p50 at 1,000 a second: below every peer on PostgreSQL", scenario: "latency" },
  "notify-cost": {
    says: "Waking sleepers: 64 callers in one process, and 8 processes of 8, keep at least 0.9 of what they publish with notifications off, on a slow disk too",
    scenario: "notify-cost",
  },
  backlog: {
    says: "A claim with ten million waiting costs at most 1.5 times one with ten thousand",
    scenario: "backlog",
  },
  "held-snapshot": {
    says: "While somebody holds a snapshot for ten minutes, p99 stays under 3 times what it is without",
    scenario: "held-snapshot",
  },
  "rtt-publish": {
    says: "With 5 ms to the database: at most one round trip a publish",
    scenario: "round-trips",
  },
  "rtt-deliver": {
    says: "The same: at most one round trip a delivered batch, once under way",
    scenario: "round-trips",
  },
  recovery: {
    says: "What a killed node (kill -9) held is handled by others within 15 s",
    scenario: "stale-recovery",
  },
  "recovery-once": { says: "The same: each message by one of them only", scenario: "stale-recovery" },
  "idle-statements": {
    says: "1,000 idle queues on a node: at most 60 s / pollMs + 8 statements a minute, 20 at the default",
    scenario: "idle-cost",
  },
  "idle-cpu": { says: "The same: under 1 % of a core", scenario: "idle-cost" },
  "exclusive-one": {
    says: "An exclusive queue on 8 nodes: never two handler calls at once in 2,000",
    scenario: "exclusive-gap",
  },
  "exclusive-gap": {
    says: "The same: under 50 ms from the end of a call to the beginning of the next, p95",
    scenario: "exclusive-gap",
  },
  "consumers-once": {
    says: "Several processes that share a queue handle no message twice",
    scenario: "concurrent-consumers",
  },
} as const satisfies Readonly<Record<string, Promised>>;

export type PromiseName = keyof typeof all;

export const promises: readonly (Promised & { readonly name: PromiseName })[] = Object.entries(all).map(
  ([name, promised]) => ({ name: name as PromiseName, ...promised }),
);
