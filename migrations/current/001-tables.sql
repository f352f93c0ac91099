-- The tables. Everything lives in one schema so that it can be dumped, granted and dropped as a unit.

-- The registry: what every node needs to know of a queue it has no code for. The columns below `settings` are the part
-- that SQL itself decides by; the rest of the settings is kept for people. A queue that was never registered works too,
-- under the defaults named in the functions.
create table :SCHEMA.queue (
  queue_name         text        primary key check (octet_length(queue_name) between 1 and 254),
  version            int         not null default 1,
  schema_hash        text,
  schema             text,                                 -- JSON text as it was written, never jsonb: bytes stay as they are
  settings           jsonb       not null default '{}',
  exclusive          boolean     not null default false,
  max_batch_messages int         not null default 100,
  max_batch_bytes    int         not null default 1048576,
  max_attempts       int         not null default 5,
  orphan_after_ms    bigint      not null default 8000,
  stale_after_ms     bigint      not null default 600000,
  dead_letter        boolean     not null default true,
  retention_ms       bigint      not null default 1209600000,
  paused_at          timestamptz,
  updated_at         timestamptz not null default clock_timestamp(),
  updated_by         text
);

-- Every schema that may still have messages waiting, in flight or dead (Q3).
create table :SCHEMA.queue_version (
  queue_name    text        not null,
  version       int         not null,
  schema_hash   text        not null,
  schema        text        not null,
  first_seen_at timestamptz not null default clock_timestamp(),
  registered_at timestamptz not null default clock_timestamp(),  -- by the last node that started with it
  primary key (queue_name, version, schema_hash)
);

-- A row is a batch of messages of one queue.
--
--   pending ──claim──> processing ──ack──> (gone)
--      ^                  │  │  └──────────> dead_message_batch      given up: attempts, crash, schema, decode
--      │                  │  └─retry──> delayed ──promote──> pending
--      └──release, recover┘
--
-- No foreign keys to or from this table: they would take KEY SHARE locks and create MultiXacts.
create table :SCHEMA.queue_message_batch (
  id               bigint      generated always as identity,
  queue_name       text        not null,
  status           text        not null default 'pending' check (status in ('pending', 'delayed', 'processing')),
  priority         int         not null default 100,       -- smaller first
  version          int         not null default 1,
  available_at     timestamptz,                            -- of a delayed batch: when it becomes pending
  created_at       timestamptz not null default clock_timestamp(),
  status_heartbeat timestamptz,                            -- the database's clock only; unindexed, so that heartbeats stay HOT
  failures         int         not null default 0,
  crashes          int         not null default 0,
  owner            text,                                   -- the node that holds the lease
  claim_token      bigint,                                 -- the fence: random per claim. Not a counter: a claim lost with an
                                                           -- unflushed commit would let a counter repeat itself
  message_count    int         not null default 1,
  bytes            int         generated always as (octet_length(payload)) stored,
  payload          text        not null,                   -- JSON array as text: jsonb refuses \u0000 and is slower
  meta             text,                                   -- JSON array of headers beside the messages, when there are any
  origin_id        bigint,                                 -- of a divided or redriven batch: the batch that gave its messages their ids
  origin_at        timestamptz,                            -- and when that was published
  positions        int[],                                  -- the messages' places in the origin, once some have left the row
  max_attempts     int,                                    -- per publish, instead of the queue's
  stale_after_ms   bigint,                                 -- per publish, instead of the queue's
  last_error       text,
  chain            text,                                   -- of a chain's step: JSON of the chain's id and its remaining steps
  history          text,                                   -- of a redriven batch: JSON array of its earlier deaths
  tracked          boolean,                                -- true: progress was recorded, and its end must be too
  quiet            boolean,                                -- true: the inserter wakes the pollers itself, after its commit
  primary key (queue_name, id)                             -- deliberately not (id): see below
) with (
  fillfactor = 85,                                         -- room for HOT heartbeats
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000,
  autovacuum_vacuum_cost_delay = 1, autovacuum_vacuum_cost_limit = 2000,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 10000,
  toast.autovacuum_vacuum_cost_delay = 1, toast.autovacuum_vacuum_cost_limit = 2000,
  vacuum_truncate = false, toast.vacuum_truncate = false   -- vacuum's truncation takes ACCESS EXCLUSIVE: never on a queue
);

-- No index may be led by id: LIMIT $n in a generic plan then makes the planner scan by id and filter on queue_name, which
-- reads every other queue's backlog (measured: 100 to 280 ms instead of 0.5 ms a claim at a million rows).
create index queue_message_batch_pending on :SCHEMA.queue_message_batch (queue_name, priority, id, version)
  where status = 'pending';
create index queue_message_batch_processing on :SCHEMA.queue_message_batch (queue_name, id) where status = 'processing';
create index queue_message_batch_delayed on :SCHEMA.queue_message_batch (available_at) where status = 'delayed';

-- Compare-and-set slots: the right to have a batch of that queue in flight. One for an exclusive queue, none for a plain one.
-- Taking a slot modifies its row, so that a racing claim is re-evaluated and loses (check-then-claim let 3,768 pairs of
-- batches run together in four seconds).
create table :SCHEMA.queue_slot (
  queue_name text   not null,
  slot       int    not null,
  batch_id   bigint,
  primary key (queue_name, slot)
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- Never holds a row; it is only locked. Every claim locks it weakly, and whoever makes or drops slots locks it strongly: a
-- claim that began while the queue was plain has then ended, and its batches are seen as in flight, before the first claim
-- that respects the slot. A table and not an advisory lock: weak table locks stay in the backend's own fast path, an advisory
-- lock taken by every claim of the cluster would be one hot spot. Not queue_slot itself: a user's transaction that has
-- acknowledged keeps that one locked for as long as it likes.
create table :SCHEMA.claim_gate ();

-- Batches given up. A key of its own: several parts of one divided batch may die.
create table :SCHEMA.dead_message_batch (
  dead_id        bigint      generated always as identity primary key,
  queue_name     text        not null,
  batch_id       bigint      not null,
  reason         text        not null,                     -- attempts, crash, schema, decode, rejected
  error          text,
  died_at        timestamptz not null default clock_timestamp(),
  failures       int         not null,
  crashes        int         not null,
  owner          text,
  priority       int         not null,
  version        int         not null,
  created_at     timestamptz not null,
  message_count  int         not null,
  bytes          int         generated always as (octet_length(payload)) stored,
  payload        text        not null,
  meta           text,
  origin_id      bigint,
  origin_at      timestamptz,
  positions      int[],
  max_attempts   int,
  stale_after_ms bigint,
  chain          text,
  history        text,
  tracked        boolean
) with (vacuum_truncate = false, toast.vacuum_truncate = false);
create index dead_message_batch_queue on :SCHEMA.dead_message_batch (queue_name, dead_id);

-- Who started and stopped, for people. Who lives is read from the session locks.
create table :SCHEMA.node (
  owner      text        primary key,
  name       text        not null,
  started_at timestamptz not null default clock_timestamp(),
  versions   jsonb       not null default '{}',            -- the newest message version it knows, by queue (D10)
  session_at timestamptz,                                  -- when its session lock was first taken; null: it can only be stale
  stopped_at timestamptz
);

-- How far a batch or a chain has come, for people; `chain:<id>` or the batch's id, or whatever key a caller gave. It outlives
-- its batch until it is purged.
create table :SCHEMA.progress (
  key        text             primary key check (octet_length(key) between 1 and 254),
  percent    double precision not null default 0 check (percent between 0 and 100),
  stage      text,
  state      text             not null default 'running' check (state in ('running', 'finished', 'failed')),
  updated_at timestamptz      not null default clock_timestamp()
) with (fillfactor = 50, vacuum_truncate = false);
create index progress_updated_at on :SCHEMA.progress (updated_at);

-- The schedules of the newest version of each queue. `next_at` is the compare-and-set: of the nodes that find it due, the one
-- that moves it stores the occurrence.
create table :SCHEMA.schedule (
  queue_name text        not null,
  entry      text        not null,                         -- hash of cron, time zone and message
  cron       text        not null,
  time_zone  text        not null,
  payload    text        not null,                         -- JSON array of one message
  version    int         not null,                         -- the message's
  catch_up   int         not null,                         -- missed occurrences that are stored late, at most
  next_at    timestamptz,                                  -- null: there is none any more
  last_at    timestamptz,                                  -- the newest occurrence that was stored
  primary key (queue_name, entry)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- lz4 costs a third of pglz to write. Servers built without it (the embedded one) keep their default.
do $$
begin
  alter table :SCHEMA.queue_message_batch alter column payload set compression lz4;
  alter table :SCHEMA.dead_message_batch alter column payload set compression lz4;
exception when feature_not_supported then
  null;
end $$;
