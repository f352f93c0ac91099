/** The safeguards of keys, lines, places and rates (J9 to J11): see mutant-list.ts. */
import type { Mutant } from "./mutant-list.js";

const conformance = "backend/conformance";
const flow = (name: string) => ["sql/flow-locks", name] as const;
const suite = (name: string) => [conformance, name] as const;
const comesBack = suite("what comes back takes its key again");
const isHead = `exists (select from :SCHEMA.queue_line l
                        where l.queue_name = b.queue_name and l.order_key = b.order_key and l.head_id = b.id)`;

const keys: readonly Mutant[] = [
  {
    in: "insert_unique",
    take: "\n    on conflict (queue_name, unique_key) where unique_running or (not unique_running and status <> 'processing') do nothing",
    noticedBy: suite("a batch whose key is taken is skipped"),
  },
  {
    in: "insert_unique",
    take: " and b.status <> 'processing';",
    put: ";",
    noticedBy: suite("replace: what waits gives way"),
  },
  ...["retry", "release", "recover"].map(
    (name): Mutant => ({
      in: name,
      take: "perform :SCHEMA.regain_keys(queues, ids);",
      put: "null;",
      noticedBy: comesBack,
    }),
  ),
  { in: "settle_part", take: "perform :SCHEMA.regain_keys(", put: "perform cardinality(", noticedBy: comesBack },
  ...["retry", "release"].map(
    (name): Mutant => ({
      in: name,
      take: "unique_running = nullif(b.unique_running, false)",
      put: "unique_running = b.unique_running",
      noticedBy: comesBack,
    }),
  ),
  {
    in: "regain_keys",
    take: "exception when unique_violation or",
    put: "exception when",
    noticedBy: comesBack,
  },
  {
    in: "regain_keys",
    take: "set lock_timeout = '10ms'",
    noticedBy: flow("J9: a key that another transaction is just about to take"),
  },
];

const lines: readonly Mutant[] = [
  ...(
    [
      ["ack", "of each key one batch is in flight"],
      ["retry", "what is given up lets the next one come"],
      ["release", "skip: what is behind a postponed batch"],
      ["dead_letter", "what is given up lets the next one come"],
      ["settle_part", "part of a batch is settled"],
      ["divide", "what was divided keeps its place"],
      ["recover", "a head that dies with its node"],
      ["remove_waiting", "block: a delayed head holds up its line"],
    ] as const
  ).map(
    ([name, noticed]): Mutant => ({
      in: name,
      take: "update :SCHEMA.queue_line l set head_id = null",
      put: "update :SCHEMA.queue_line l set head_id = l.head_id",
      noticedBy: suite(noticed),
    }),
  ),
  // Twice: once as chosen, once as locked.
  {
    in: "admit",
    take: `(not q.ordered or b.order_key is null\n            or ${isHead})`,
    put: "true",
    also: ["if q.ordered and ids is not null then", "if false then"],
    noticedBy: flow("J10: two claims make the lines of one queue"),
  },
  {
    in: "admit",
    take: " or (q.ordered and :SCHEMA.is_headless(admit.queue))",
    noticedBy: flow("J10: an acknowledgement waits for nobody"),
  },
  {
    in: "admit",
    take: "due_ms := least(due_ms, 5);",
    put: "null;",
    noticedBy: flow("J10: an acknowledgement waits for nobody"),
  },
  {
    in: "line_up",
    take: "not pg_try_advisory_xact_lock(7306, hashtext(:SCHEMA_LITERAL || '.' || queue))",
    put: "false",
    noticedBy: flow("J10: two claims make the lines of one queue"),
  },
  {
    in: "line_up",
    take: "         for no key update skip locked\n",
    put: "         for no key update\n",
    noticedBy: flow("J10: who promotes the next one of a line"),
  },
  {
    in: "line_up",
    take: "         for no key update skip locked\n",
    noticedBy: flow("J10: while one puts a batch behind"),
  },
  {
    in: "line_up",
    take: "for update of b skip locked",
    put: "for update of b",
    noticedBy: flow("J10: a claim waits for nobody who has"),
  },
  {
    in: "line_up",
    take: "  if headless then\n    perform :SCHEMA.pass_on(false);",
    put: "  if headless then",
    noticedBy: flow("J10: a head is acknowledged by a transaction that cannot see"),
  },
  {
    in: "pass_on",
    take: "       for update skip locked",
    put: "       for update",
    noticedBy: flow("J10: a claim that makes a line"),
  },
  {
    in: "pass_on",
    take: "for update of l skip locked",
    put: "for update of l",
    noticedBy: flow("J10: a head is acknowledged by a transaction that cannot see"),
  },
  {
    in: "pass_on",
    take: "current_setting('transaction_isolation') <> 'read committed'",
    put: "false",
    noticedBy: flow("J10: a head is acknowledged by a transaction that cannot see"),
  },
  {
    in: "pass_on",
    take: "order by coalesce(b.origin_id, b.id), b.id",
    put: "order by b.id",
    noticedBy: suite("what was divided keeps its place"),
  },
  {
    in: "pass_on",
    take: " and (b.status <> 'delayed' or not line.skips)",
    noticedBy: suite("skip: what is behind a postponed batch"),
  },
  {
    in: "repair_lines",
    take: "where not exists (select",
    put: "where exists (select",
    noticedBy: flow("J10: a line whose head somebody deleted"),
  },
];

const freeSlots = "       for no key update skip locked);";
const rateRow = "where t.queue_name = admit.queue for update skip locked;";

const limits: readonly Mutant[] = [
  {
    in: "admit",
    take: freeSlots,
    put: "       for no key update);",
    noticedBy: flow("J11: while one takes the last place"),
  },
  { in: "admit", take: freeSlots, put: "      );", noticedBy: flow("J11: while one takes the last place") },
  {
    in: "admit",
    take: rateRow,
    put: "where t.queue_name = admit.queue for update;",
    noticedBy: flow("J11: while one takes the last token"),
  },
  {
    in: "admit",
    take: rateRow,
    put: "where t.queue_name = admit.queue;",
    noticedBy: flow("J11: while one takes the last token"),
  },
  {
    in: "admit",
    take: "if q.draining then",
    put: "if false then",
    noticedBy: suite("maxInFlight that comes, or is lowered"),
  },
  {
    in: "admit",
    take: "perform from :SCHEMA.queue r where r.queue_name = admit.queue for no key update skip locked;",
    put: "found := true;",
    noticedBy: flow("J11: a claim does not wait for a registration"),
  },
  {
    in: "admit",
    take: "s.messages_so_far <= tokens",
    put: "true",
    noticedBy: suite("rate: so many messages in any stretch"),
  },
  {
    in: "admit",
    take: "p.ends_at + q.rate_per_ms > now_ms",
    put: "p.ends_at > now_ms",
    noticedBy: suite("rate: so many messages in any stretch"),
  },
  {
    in: "admit",
    take: "(s.place = 1 and tokens = q.rate_limit)",
    put: "false",
    noticedBy: suite("rate: a batch that alone is over the limit"),
  },
  {
    in: "claim",
    take: "flush := true;\n        first := false;",
    put: "first := false;",
    noticedBy: flow("J11: a claim is flushed"),
  },
  {
    in: "dead_letter",
    take: "g.chain is not null or g.tracked\n        or ",
    noticedBy: suite("what dies in a queue that keeps no dead letters"),
  },
  ...["retry", "recover", "settle_part"].map(
    (name): Mutant => ({
      in: name,
      take: " or b.chain is not null or b.tracked is true as noticed",
      put: " as noticed",
      noticedBy: suite("what dies in a queue that keeps no dead letters"),
    }),
  ),
];

export const flowMutants: readonly Mutant[] = [...keys, ...lines, ...limits];
