/** Each safeguard of the SQL, how to take it out, and the test that must notice. */
import { flowMutants } from "./flow-mutants.js";

export interface Mutant {
  /** A file of migrations/functions, without its ending. */
  readonly in: string;
  /** Text that stands there exactly once, or as often as `times` says; all are replaced. */
  readonly take: string;
  readonly put?: string;
  readonly times?: number;
  /** Taken out with it: a second safeguard, that alone would do. */
  readonly also?: readonly [take: string, put: string];
  /** A test file below test/, and a part of the test's name. */
  readonly noticedBy: readonly [string, string];
}

const conformance = "backend/conformance";
const locks = "sql/locks";
const token = "b.claim_token = a.token and ";
const lateOwner = [conformance, "who lost a batch settles nothing"] as const;
const order = (name: string) => [locks, `lock order: ${name}`] as const;
const skip = "for update of b skip locked";

const fences: readonly Mutant[] = [
  { in: "ack", take: token, noticedBy: lateOwner },
  { in: "retry", take: token, noticedBy: lateOwner },
  { in: "release", take: token, noticedBy: lateOwner },
  { in: "dead_letter", take: token, noticedBy: lateOwner },
  { in: "heartbeat", take: token, times: 2, noticedBy: lateOwner },
  { in: "settle_part", take: "b.claim_token = token and ", noticedBy: lateOwner },
  { in: "divide", take: "b.claim_token = token and ", noticedBy: lateOwner },
  {
    in: "progress_of_batch",
    take: "b.claim_token = token and ",
    noticedBy: [conformance, "a late owner writes nothing"],
  },
  { in: "occur", take: "s.next_at = expected and ", noticedBy: [conformance, "an occurrence is stored once"] },
  {
    in: "occur",
    take: " and s.next_at <= clock_timestamp()",
    noticedBy: [conformance, "an occurrence is stored once"],
  },
  {
    in: "claim",
    take: "floor(random() * 9007199254740991)::bigint",
    put: "7",
    noticedBy: [conformance, "a token that is new at every claim"],
  },
];

const slots: readonly Mutant[] = [
  {
    in: "ack",
    take: "update :SCHEMA.queue_slot s set batch_id = null",
    put: "update :SCHEMA.queue_slot s set batch_id = s.batch_id",
    noticedBy: [conformance, "an exclusive queue has one batch in flight"],
  },
  ...(
    [
      ["retry", "the slot of an exclusive queue is free as soon as its batch waits"],
      ["release", "the slot of an exclusive queue is free when its batch is released"],
      ["dead_letter", "the slot of an exclusive queue is free when its batch is given up"],
      ["settle_part", "the slot of an exclusive queue is kept with the lease"],
      ["divide", "the slot of an exclusive queue is free afterwards"],
      ["recover", "the slot of an exclusive queue is free when its holder is lost"],
    ] as const
  ).map(
    ([name, noticed]): Mutant => ({
      in: name,
      take: "update :SCHEMA.queue_slot s set batch_id = null",
      put: "update :SCHEMA.queue_slot s set batch_id = s.batch_id",
      noticedBy: [conformance, noticed],
    }),
  ),
  {
    in: "settle_part",
    take: " where k.status <> 'processing'",
    noticedBy: [locks, "E1: a slot is held as long as the lease"],
  },
  {
    in: "claim",
    take: "and s.batch_id is null\n           and not exists",
    put: "and not exists",
    noticedBy: [conformance, "an exclusive queue has one batch in flight"],
  },
  {
    in: "claim",
    take: "for no key update skip locked",
    put: "for no key update",
    noticedBy: [locks, "E1: while one takes the slot"],
  },
  // Look, then claim.
  {
    in: "claim",
    take: "\n           for no key update skip locked",
    noticedBy: [locks, "E1: who is late for the slot"],
  },
  {
    in: "claim",
    take: "lock table :SCHEMA.claim_gate in row share mode;",
    noticedBy: [locks, "E1: a queue becomes exclusive only once"],
  },
  {
    in: "set_slots",
    take: "lock table :SCHEMA.claim_gate in exclusive mode;",
    noticedBy: [locks, "E1: a queue becomes exclusive only once"],
  },
  { in: "set_slots", take: "    return;\n", noticedBy: [locks, "E1: a registration that changes nothing"] },
  {
    in: "claim",
    take: "where b.queue_name = s.queue_name and b.status = 'processing'",
    put: "where false",
    noticedBy: [conformance, "a queue that becomes exclusive drains first"],
  },
  {
    in: "claim",
    take: "flush := true;\n      update :SCHEMA.queue_slot",
    put: "update :SCHEMA.queue_slot",
    noticedBy: [locks, "R1: a claim is flushed"],
  },
  {
    in: "repair_slots",
    take: "and not exists (select",
    put: "and exists (select",
    noticedBy: [locks, "E1: a slot whose batch somebody deleted"],
  },
];

const locking: readonly Mutant[] = [
  { in: "ack", take: "order by 1, 2", noticedBy: order("ack") },
  { in: "dead_letter", take: "order by 1, 2", noticedBy: order("dead_letter") },
  { in: "retry", take: "order by b.queue_name, b.id\n", put: "\n", noticedBy: order("retry") },
  { in: "release", take: "order by b.queue_name, b.id\n", put: "\n", noticedBy: order("release") },
  { in: "heartbeat", take: skip, put: "for update of b", noticedBy: [locks, "R2: a heartbeat waits for nobody"] },
  {
    in: "pick",
    take: "for update skip locked",
    put: "for update",
    times: 2,
    noticedBy: [locks, "D1: a claim waits for nobody"],
  },
  {
    in: "promote",
    take: "for update skip locked",
    put: "for update",
    noticedBy: [locks, "P14: promotion waits for nobody"],
  },
  { in: "recover", take: skip, put: "for update of b", noticedBy: [locks, "R4: recovery waits for nobody"] },
  { in: "redrive", take: "for update skip locked", put: "for update", noticedBy: [locks, "J2: of two who redrive"] },
  { in: "purge", take: "for update skip locked", put: "for update", noticedBy: [locks, "J2: of two who redrive"] },
  {
    in: "remove_waiting",
    take: "for update skip locked",
    put: "for update",
    noticedBy: [locks, "J2: of two who redrive"],
  },
  {
    in: "announce",
    take: "perform pg_advisory_xact_lock_shared(7301, k);",
    put: "null;",
    noticedBy: [locks, "W3: a publishing transaction is seen"],
  },
  {
    in: "wake",
    take: "not pg_advisory_unlock(7302, k)",
    put: "false",
    noticedBy: [locks, "W3: a publishing transaction is seen"],
  },
  {
    in: "is_alive",
    take: "not pg_advisory_unlock(7303, k)",
    put: "false",
    noticedBy: [locks, "W3: a publishing transaction is seen"],
  },
];

const rules: readonly Mutant[] = [
  {
    in: "claim",
    take: ":SCHEMA.announce(left_in)",
    put: ":SCHEMA.wake(left_in)",
    noticedBy: ["sql/announce", "a claim that leaves what it has locked"],
  },
  ...["retry", "release", "settle_part"].map(
    (name): Mutant => ({
      in: name,
      take: "true, known)",
      put: "true, true)",
      noticedBy: ["sql/announce", `P14: ${name}: sleepers hear`],
    }),
  ),
  {
    in: "announce",
    take: "if not known then",
    put: "if true then",
    noticedBy: ["sql/announce", "P14: retry: sleepers hear"],
  },
  {
    in: "settle_part",
    take: " and (m.positions is null or d.place = any (m.positions))",
    noticedBy: [conformance, "said twice, because nobody answered"],
  },
  {
    in: "settle_part",
    take: "and (b.positions is null or rest_payload is null or rest_positions <@ b.positions)",
    noticedBy: [conformance, "carried out too late"],
  },
  { in: "claim", take: "continue when q.paused;", noticedBy: [conformance, "a paused queue gives nothing"] },
  {
    in: "prune_versions",
    take: "where waiting.yes and dead.yes",
    noticedBy: ["sql/prune-versions", "a version with a batch waiting, in flight or dead stays"],
  },
  {
    in: "prune_versions",
    take: "for update of v skip locked",
    noticedBy: ["sql/prune-versions", "a registration under way keeps its version"],
  },
  {
    in: "register_queue",
    take: "on conflict on constraint queue_version_pkey do update set registered_at = excluded.registered_at",
    put: "on conflict do nothing",
    noticedBy: ["sql/prune-versions", "within a week of its last registration"],
  },
  {
    in: "pick",
    take: " and m.version <= pick.version",
    times: 2,
    noticedBy: [conformance, "a batch newer than the node knows"],
  },
  {
    in: "pick",
    take: "exit when left_one;",
    put: "null;",
    times: 2,
    noticedBy: [conformance, "no more bytes than asked for"],
  },
  {
    in: "pick",
    take: "order by m.priority, m.id",
    put: "order by m.id",
    times: 2,
    noticedBy: [conformance, "by priority, smaller first"],
  },
  {
    in: "recover",
    take: "and not :SCHEMA.is_alive(s.owner)",
    noticedBy: [conformance, "what a living one holds is not"],
  },
  {
    in: "recover",
    take: "and n.session_at is not null",
    noticedBy: [conformance, "never had a session cannot be told"],
  },
  { in: "recover", take: "b.message_count = 1 and ", noticedBy: [conformance, "never dies of crashes"] },
  {
    in: "recover",
    take: "crashes = b.crashes + 1",
    put: "crashes = b.crashes",
    noticedBy: [conformance, "a stale batch is there again with one crash"],
  },
  {
    in: "retry",
    take: "m.exhausted and not m.several and",
    put: "m.exhausted and",
    noticedBy: [conformance, "does not die of its last attempt"],
  },
  { in: "retry", take: "failures = b.failures + 1,", noticedBy: [conformance, "counts one failure"] },
  {
    in: "promote",
    take: " and b.available_at <= clock_timestamp()",
    noticedBy: [conformance, "a failed batch waits out its back-off"],
  },
  {
    in: "divide",
    take: "coalesce(g.origin_id, g.id)",
    put: "g.id",
    noticedBy: [conformance, "a part of a part still names its origin"],
  },
  {
    in: "redrive",
    take: "coalesce(r.origin_id, r.batch_id)",
    put: "null",
    noticedBy: [conformance, "redriven messages have a fresh count"],
  },
  {
    in: "register_queue",
    take: "was_version is null or was_version <= new_version",
    put: "true",
    noticedBy: [conformance, "a lower version does not overwrite"],
  },
  {
    in: "poll",
    take: "where m.q <> all (moved)",
    noticedBy: ["sql/low-water", "what has just come back is found below the mark"],
  },
  {
    in: "poll",
    take: "perform :SCHEMA.announce(moved, true);",
    put: "null;",
    noticedBy: [conformance, "was not taken, wakes other nodes"],
  },
];

export const mutants: readonly Mutant[] = [...fences, ...slots, ...locking, ...rules, ...flowMutants];
