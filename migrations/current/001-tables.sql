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
  unique_by          text[],                               -- JSON Pointers; null: no such rule
  unique_running     boolean     not null default false,   -- the key is held while the batch runs, too
  unique_replaces    boolean     not null default false,   -- what comes takes the place of what waits
  order_by           text,                                 -- JSON Pointer; null: no such rule
  order_skips        boolean     not null default false,   -- what is behind a failed batch does not wait for it
  max_in_flight      int,
  draining           boolean     not null default false,   -- something may be in flight from before its slots were made
  rate_limit         int,                                  -- messages per rate_per_ms
  rate_per_ms        bigint,
  paused_at          timestamptz,
  updated_at         timestamptz not null default clock_timestamp(),
  updated_by         text,
  -- Claimed by admit(), one queue at a time. A plain queue, or one that is only exclusive, is not.
  flow               boolean     generated always as (order_by is not null or max_in_flight is not null or rate_limit is not null) stored
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
-- In a queue with order_by a pending batch whose line already has a head goes `behind` it, and back when its turn comes
-- (queue_line). Behind is outside the claim's index: a long line costs a claim nothing.
--
-- No foreign keys to or from this table: they would take KEY SHARE locks and create MultiXacts.
create table :SCHEMA.queue_message_batch (
  id               bigint      generated always as identity,
  queue_name       text        not null,
  status           text        not null default 'pending' check (status in ('pending', 'delayed', 'processing', 'behind')),
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
  order_key        text,                                   -- the line it stands in; null: none
  unique_key       text,
  unique_running   boolean,                                -- null: the key is not held; true: also while the batch runs
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

-- Never read. Setting it makes a transaction write to the log, so that its commit is flushed: insert_one().
create sequence :SCHEMA.flush_point;

-- No index may be led by id: LIMIT $n in a generic plan then makes the planner scan by id and filter on queue_name, which
-- reads every other queue's backlog (measured: 100 to 280 ms instead of 0.5 ms a claim at a million rows).
create index queue_message_batch_pending on :SCHEMA.queue_message_batch (queue_name, priority, id, version)
  where status = 'pending';
create index queue_message_batch_processing on :SCHEMA.queue_message_batch (queue_name, id) where status = 'processing';
create index queue_message_batch_delayed on :SCHEMA.queue_message_batch (available_at) where status = 'delayed';
-- At most one batch holds a key (J9). A batch whose key is held only while it waits leaves this index with its claim, which
-- therefore has nothing to check.
create unique index queue_message_batch_unique on :SCHEMA.queue_message_batch (queue_name, unique_key)
  where unique_running or (not unique_running and status <> 'processing');
-- A line from its head on: what was divided keeps the place of the batch it came from.
create index queue_message_batch_line on :SCHEMA.queue_message_batch (queue_name, order_key, coalesce(origin_id, id), id)
  where order_key is not null and status <> 'processing';

-- Compare-and-set slots: the right to have a batch of that queue in flight. One for an exclusive queue,
-- max_in_flight for a limited one, none for a plain one.
-- Taking a slot modifies its row, so that a racing claim is re-evaluated and loses (check-then-claim let 3,768 pairs of
-- batches run together in four seconds).
create table :SCHEMA.queue_slot (
  queue_name text   not null,
  slot       int    not null,
  batch_id   bigint,
  primary key (queue_name, slot)
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- The lines of a queue with order_by (J10): which batch of a key is the head, the only one that may be in flight. A line without
-- waiting batches has no row.
--   A pending batch whose key has no row makes one: line_up(), before a claim. Behind: only what is put there by who holds the
--   lock of the row, so that whoever takes the head away, which changes the row, finds it afterwards.
--   The head leaves its line when it is gone (acknowledged, dead, divided, removed), with order_skips also when it waits again.
--   It says so by head_id = null in the statement that moves it, and pass_on() finds the next one with a snapshot of its own,
--   before the commit.
create table :SCHEMA.queue_line (
  queue_name text   not null,
  order_key  text   not null,
  head_id    bigint,
  primary key (queue_name, order_key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index queue_line_headless on :SCHEMA.queue_line (queue_name, order_key) where head_id is null;

-- What a queue with a rate has handed out, by hundredths of its rate_per_ms, oldest first (J11). A part counts until a whole
-- rate_per_ms has passed since its end: never more than the limit in any stretch, and at most a hundredth less.
create table :SCHEMA.queue_rate (
  queue_name text        primary key,
  ends       bigint[]    not null default '{}',            -- of each part, in milliseconds since 1970
  counts     int[]       not null default '{}'
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
  tracked        boolean,
  order_key      text,
  unique_key     text
) with (vacuum_truncate = false, toast.vacuum_truncate = false);
create index dead_message_batch_queue on :SCHEMA.dead_message_batch (queue_name, dead_id);

-- Who started and stopped, for people. Who lives is read from the session locks.
create table :SCHEMA.node (
  owner      text        primary key,
  name       text        not null,
  started_at timestamptz not null default clock_timestamp(),
  versions   jsonb       not null default '{}',            -- the newest message version it knows, by queue (D10)
  refused    text[]      not null default '{}',            -- queues it claims no more until they are resumed (D6)
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

-- lz4 costs a third of pglz to write. A server built without it (the embedded one) stores what waits as it is: to compress a
-- batch of 18 KB takes pglz half a millisecond, as long as the whole insert without it. Dead letters stay, so they are compressed.
do $$
begin
  alter table :SCHEMA.queue_message_batch alter column payload set compression lz4;
  alter table :SCHEMA.dead_message_batch alter column payload set compression lz4;
exception when feature_not_supported then
  alter table :SCHEMA.queue_message_batch alter column payload set storage external;
end $$;
