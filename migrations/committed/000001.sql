--! Previous: -
--! Hash: sha1:ab084fb93eb1bd833ac4f1d2135fc9e5bef41c13

--! split: 001-tables.sql
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

--! split: 500-write_progress.sql
-- write_progress: record how far something has come; the last writer wins.
--   progress_key  `chain:<id>`, a batch's id, or any text of 1 to 254 bytes
--   percent       clamped to 0 to 100; null: as it was
--   stage         what it is at; null: as it was
--   state         running, finished or failed
-- Tells those who follow, by a notification `%key` on the schema's channel: no number, so that no poller takes it for a
-- wake-up. Locks: the row.
create or replace function :SCHEMA.write_progress(progress_key text, percent double precision, stage text, state text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into :SCHEMA.progress as p (key, percent, stage, state)
  values (progress_key, greatest(0, least(100, coalesce(write_progress.percent, 0))), write_progress.stage, write_progress.state)
  on conflict on constraint progress_pkey do update
    set percent = case when write_progress.percent is null then p.percent else excluded.percent end,
        stage = coalesce(excluded.stage, p.stage), state = excluded.state, updated_at = clock_timestamp();
  perform pg_notify(:SCHEMA_LITERAL, '%' || progress_key);
end $$;

--! split: 501-message_key.sql
-- message_key: the key of the first message of a payload for `unique` and `orderBy`, as batch/message-key.ts makes it: the values at the pointers,
-- a number without exponent, longer than 200 bytes as a digest. Null where a value is missing. Private to what stores
-- messages in SQL.
create or replace function :SCHEMA.message_key(payload text, pointers text[]) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  readable text;
  message json;
  pointer text;
  value json;
  one text;
  key text;
begin
  message := payload::json -> 0;
  foreach pointer in array pointers loop
    value := message #> array(
      select replace(replace(part, '~1', '/'), '~0', '~') from unnest(string_to_array(substr(pointer, 2), '/')) with ordinality as p (part, n)
       order by n);
    if value is null then
      return null;
    end if;
    one := value::text;
    if json_typeof(value) = 'number' then
      one := trim_scale(one::numeric)::text;
    elsif json_typeof(value) = 'string' then
      one := to_json(value #>> '{}')::text;
    end if;
    key := case when key is null then one else key || ',' || one end;
  end loop;
  return case when octet_length(key) <= 200 then key else 'sha256:' || encode(sha256(convert_to(key, 'UTF8')), 'hex') end;
exception when data_exception then
  -- \u0000 or a lone surrogate, which json can hold but not look into: as if another character stood there.
  readable := regexp_replace(payload, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g');
  if readable = payload then
    raise;
  end if;
  return :SCHEMA.message_key(readable, pointers);
end $$;

--! split: 502-wake_key.sql
-- wake_key: the advisory-lock key of a queue, 0 to 63.
--   queue  its name
-- 64 keys and not one per name, because a lock per queue overflows the server's lock table (1,000 queues on each of 32
-- nodes: new connections get "out of shared memory"). The price is a spurious wake-up where two queues share a key.
-- The schema is part of the hash, so that two schemas of one database rarely meet. Computed only here, never in code:
-- hashtext() is not promised to be the same in every server version.
create or replace function :SCHEMA.wake_key(queue text) returns int
language sql stable parallel safe
as $$ select hashtext(:SCHEMA_LITERAL || '.' || queue) & 63 $$;

--! split: 503-wake.sql
-- wake: notify the pollers that sleep on these queues; the count of notifications sent.
--   queues  names; several queues may share one key, which is notified once
--   mark    true for everything but a plain publish (retry, release, recovery …): the payload then ends in "!"
-- The probe takes SLEEP exclusively and lets go at once; failing means somebody sleeps there. It must stay ONE expression:
-- take and release then have no interrupt point between them, so that a cancelled statement cannot leave the session lock
-- behind on a pooled connection.
-- Must not run on the connection that holds SLEEP: a session never conflicts with its own lock.
create or replace function :SCHEMA.wake(queues text[], mark boolean default false) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int;
  sent int := 0;
begin
  for k in select distinct :SCHEMA.wake_key(q) from unnest(queues) q order by 1 loop
    if (case when pg_try_advisory_lock(7302, k) then not pg_advisory_unlock(7302, k) else true end) then
      perform pg_notify(:SCHEMA_LITERAL, case when mark then k || '!' else k::text end);
      sent := sent + 1;
    end if;
  end loop;
  return sent;
end $$;

--! split: 504-announce.sql
-- announce: PUB and wake inside the caller's transaction, for rows that become claimable when it commits.
--   queues  names
--   mark    as in wake
--   known   true: sleepers know already when to look, and are not notified (is_due_known)
-- PUB is held shared until after the commit. A poller that falls asleep takes SLEEP first and probes PUB second: it either
-- sees us publishing and keeps looking, or we see it sleeping and notify. No step but its last look reads a snapshot, so
-- this holds at every isolation level.
create or replace function :SCHEMA.announce(queues text[], mark boolean default false, known boolean default false)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int;
begin
  for k in select distinct :SCHEMA.wake_key(q) from unnest(queues) q order by 1 loop
    perform pg_advisory_xact_lock_shared(7301, k);
  end loop;
  if not known then
    perform :SCHEMA.wake(queues, mark);
  end if;
end $$;

--! split: 505-hand_over.sql
-- hand_over: what an acknowledged batch leaves behind: the next step of its chain, and the end of its progress. The batch's id.
-- Private to ack, whose statement has just deleted the batch: it is called once for each, or rolled back with it.
--   batch_id  the batch that is gone
--   chain     its chain, or null: JSON with id, step (counted from 1), steps, and rest, the steps that follow, each with
--             queue, version, priority, payload, and where they have any meta, maxAttempts, staleAfterMs and delayMs
-- A step stands in the line of its message (J10), but has no unique key: it would be lost where the key is taken.
-- json and not jsonb, which would refuse \u0000 and change the bytes of what follows.
-- Locks: the progress row, then PUB of the next step's queue.
-- Nobody but ack's owner may call it: it inserts whatever it is told.
create or replace function :SCHEMA.hand_over(batch_id bigint, chain text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c json := chain::json;
  next json := c -> 'rest' -> 0;
  done int := (c ->> 'step')::int;
begin
  if c is null then
    perform :SCHEMA.write_progress(batch_id::text, 100, null, 'finished');
    return batch_id;
  end if;
  if next is null then
    perform :SCHEMA.write_progress('chain:' || (c ->> 'id'), 100, null, 'finished');
    return batch_id;
  end if;
  insert into :SCHEMA.queue_message_batch (
    queue_name, version, priority, payload, meta, max_attempts, stale_after_ms, status, available_at, quiet, order_key, chain)
  select next ->> 'queue', (next ->> 'version')::int, (next ->> 'priority')::int, next ->> 'payload', next ->> 'meta',
         (next ->> 'maxAttempts')::int, (next ->> 'staleAfterMs')::bigint,
         case when d.ms > 0 then 'delayed' else 'pending' end,
         case when d.ms > 0 then clock_timestamp() + d.ms * interval '1 millisecond' end, true,
         (select :SCHEMA.message_key(next ->> 'payload', array[r.order_by])
            from :SCHEMA.queue r where r.queue_name = next ->> 'queue' and r.order_by is not null),
         json_build_object('id', c ->> 'id', 'step', done + 1, 'steps', (c ->> 'steps')::int, 'rest',
           coalesce((select json_agg(r.value order by r.n) from json_array_elements(c -> 'rest') with ordinality r (value, n)
                      where r.n > 1), '[]'::json))::text
    from (select (next ->> 'delayMs')::bigint as ms) d;
  perform :SCHEMA.write_progress('chain:' || (c ->> 'id'), 100.0 * done / (c ->> 'steps')::int, null, 'running');
  perform :SCHEMA.announce(array[next ->> 'queue'], true);
  return batch_id;
end $$;

--! split: 506-pass_on.sql
-- pass_on: give every line without a head its next one, and forget the lines in which nobody waits (J10).
--   telling  whether to wake the sleepers of the queues in which a line was left as it is
-- The next one is the oldest that waits; what was divided counts from the batch it came from. A delayed batch is the head like
-- any other, and so holds up its line until it is due; with order_skips it is passed over.
-- Its caller has taken the heads away in a statement before: only with a snapshot of its own does this one see what others
-- have put behind meanwhile, for they held the lock of the line. In a transaction with one snapshot for all it therefore leaves
-- the line to the next claim.
-- Locks: the lines in (queue_name, order_key) order, then the next batch of each, all SKIP LOCKED: it waits for nobody. Who promotes
-- or removes that batch may want a line that we hold, or one of who waits for us. Such a line stays without a head, and the
-- next claim of its queue does this again: see line_up. Index: queue_message_batch_line.
create or replace function :SCHEMA.pass_on(telling boolean default true) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  line record;
  next_id bigint;
  next_status text;
  left_in text[] := '{}';
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return;
  end if;
  for line in
    select l.queue_name, l.order_key, coalesce(q.order_skips, false) as skips
      from :SCHEMA.queue_line l
      left join :SCHEMA.queue q on q.queue_name = l.queue_name
     where l.head_id is null
     order by l.queue_name, l.order_key
       for update of l skip locked
  loop
    -- Chosen first and locked second: SKIP LOCKED in the choice would give the turn to the one after it.
    select b.id into next_id
      from :SCHEMA.queue_message_batch b
     where b.queue_name = line.queue_name and b.order_key = line.order_key
       and b.status <> 'processing' and (b.status <> 'delayed' or not line.skips)
     order by coalesce(b.origin_id, b.id), b.id
     limit 1;
    if not found then
      delete from :SCHEMA.queue_line l where l.queue_name = line.queue_name and l.order_key = line.order_key;
      continue;
    end if;
    select b.status into next_status
      from :SCHEMA.queue_message_batch b
     where b.queue_name = line.queue_name and b.id = next_id and b.status <> 'processing'
       for update skip locked;
    if not found then
      left_in := left_in || line.queue_name;
      continue;
    end if;
    update :SCHEMA.queue_line l set head_id = next_id where l.queue_name = line.queue_name and l.order_key = line.order_key;
    if next_status = 'behind' then
      update :SCHEMA.queue_message_batch b set status = 'pending' where b.queue_name = line.queue_name and b.id = next_id;
    end if;
  end loop;
  if telling and left_in <> '{}' then
    perform :SCHEMA.announce(left_in, true);
  end if;
end $$;

--! split: 507-ack.sql
-- ack: these batches are done; they are deleted. The ids that were still ours; a missing one was lost.
--   queues, ids, tokens  the fence of each batch
-- The next step of a chain is stored by the same statement (hand_over): never lost, never twice.
-- Runs with its owner's rights: a role that may only consume must not insert otherwise, nor call hand_over by itself.
-- Locks: the rows in (queue_name, id) order, then the slots they held, then the lines they headed; of a chain's step also PUB of the next one's queue.
create or replace function :SCHEMA.ack(queues text[], ids bigint[], tokens bigint[]) returns setof bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  done bigint[];
  in_line bigint;
begin
  with gone as (
    delete from :SCHEMA.queue_message_batch b
     using (select * from unnest(queues, ids, tokens) as a (q, id, token) order by 1, 2) a
     where b.queue_name = a.q and b.id = a.id and b.claim_token = a.token and b.status = 'processing'
    returning b.queue_name, b.id, b.chain, b.tracked, b.order_key
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from gone g where s.queue_name = g.queue_name and s.batch_id = g.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from gone g
     where l.queue_name = g.queue_name and l.order_key = g.order_key and l.head_id = g.id
  )
  -- What an acknowledgement leaves behind is stored by this very statement. Most leave nothing.
  select array_agg(case when g.chain is null and g.tracked is null then g.id else :SCHEMA.hand_over(g.id, g.chain) end),
         count(g.order_key)
    into done, in_line
    from gone g;
  if in_line > 0 then
    perform :SCHEMA.pass_on();
  end if;
  return query select unnest(done);
end $$;

--! split: 508-has_pending.sql
-- has_pending: whether a batch of this queue waits to be claimed.
-- A function of its own for its planner settings: with wrong statistics `exists` would scan the table.
create or replace function :SCHEMA.has_pending(queue text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return exists (select from :SCHEMA.queue_message_batch b where b.queue_name = queue and b.status = 'pending');
end $$;

--! split: 509-is_headless.sql
-- is_headless: whether a line of this queue has no head. Private to what puts batches in line.
-- A function of its own for its planner settings, as has_pending. Index: queue_line_headless.
create or replace function :SCHEMA.is_headless(queue text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return exists (select from :SCHEMA.queue_line l where l.queue_name = queue and l.head_id is null);
end $$;

--! split: 510-line_up.sql
-- line_up: put the pending batches of a queue with order_by in line, oldest first, until enough are ready to be claimed: a
-- batch without a key, or the head of its line. How many are, at most `enough`. Private to admit.
--   known_version  newer batches are left where they are: they wait for a newer node
--   enough         how many the caller can use
--   headless       a line has no head: its next batch was locked, or a transaction with one snapshot for all took the head. Look
--                  again soon: what waits in it may all be behind, and then nothing else tells that there is work
-- Each batch goes behind once, so a line of any length costs a claim nothing afterwards. At most 2,000 are looked at; who finds
-- fewer ready than there may be answers -1 and looks again.
-- Locks: the lines and the batches, SKIP LOCKED: it waits for nobody. Were it to wait with a line in its hands, it would wait in a
-- circle with who removes the head of that line.
create or replace function :SCHEMA.line_up(queue text, known_version int, enough int, out ready int, out headless boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  portion constant int := greatest(20, least(2 * enough, 200));
  looked int := 0;
  seen int;
  ids bigint[];
  last_priority int := -2147483648;
  last_id bigint := -1;
begin
  ready := 0;
  headless := :SCHEMA.is_headless(queue);
  if headless then
    perform :SCHEMA.pass_on(false);
    headless := :SCHEMA.is_headless(queue);
  end if;
  loop
    select array_agg(c.id order by c.priority, c.id), count(*), (array_agg(c.priority order by c.priority desc, c.id desc))[1]
      into ids, seen, last_priority
      from (select b.id, b.priority
              from :SCHEMA.queue_message_batch b
             where b.queue_name = queue and b.status = 'pending' and b.version <= known_version
               and (b.priority, b.id) > (last_priority, last_id)
             order by b.priority, b.id
             limit portion) c;
    exit when seen = 0;
    last_id := ids[seen];
    if exists (
      select from unnest(ids) as c (id)
        join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
       where b.order_key is not null and b.status = 'pending'
         and not exists (select from :SCHEMA.queue_line l where l.queue_name = b.queue_name and l.order_key = b.order_key))
    then
      -- One claim at a time makes lines in a queue: an insert waits for another of the same key, and two claims that go through
      -- several queues, or portions, wait for each other. Who comes second looks again soon.
      if not pg_try_advisory_xact_lock(7306, hashtext(:SCHEMA_LITERAL || '.' || queue)) then
        ready := -1;
        return;
      end if;
      insert into :SCHEMA.queue_line (queue_name, order_key)
      select distinct b.queue_name, b.order_key
        from unnest(ids) as c (id)
        join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
       where b.order_key is not null and b.status = 'pending'
         and not exists (select from :SCHEMA.queue_line l where l.queue_name = b.queue_name and l.order_key = b.order_key)
       order by 1, 2
      on conflict do nothing;
      if found then
        perform :SCHEMA.pass_on(false);
        headless := headless or :SCHEMA.is_headless(queue);
      end if;
    end if;
    with line as materialized (                            -- locked: whoever takes its head away waits, and then sees who is behind
      select l.order_key, l.head_id
        from :SCHEMA.queue_line l
       where l.queue_name = queue and l.head_id is not null
         and l.order_key in (
           select b.order_key
             from unnest(ids) as c (id)
             join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
             join :SCHEMA.queue_line o on o.queue_name = b.queue_name and o.order_key = b.order_key
            where b.status = 'pending' and o.head_id <> b.id)
       order by l.order_key
         for no key update skip locked
    ), late as materialized (
      select b.id
        from unnest(ids) as c (id)
        join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
        join line l on l.order_key = b.order_key
       where b.status = 'pending' and l.head_id <> b.id
         for update of b skip locked
    )
    update :SCHEMA.queue_message_batch b set status = 'behind' from late l where b.queue_name = queue and b.id = l.id;
    select ready + count(*) into ready
      from unnest(ids) as c (id)
      join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
     where b.status = 'pending'
       and (b.order_key is null
            or exists (select from :SCHEMA.queue_line l
                        where l.queue_name = b.queue_name and l.order_key = b.order_key and l.head_id = b.id));
    looked := looked + seen;
    exit when ready >= enough or seen < portion;
    if looked >= 2000 then
      ready := -1;
      return;
    end if;
  end loop;
end $$;

--! split: 511-admit.sql
-- admit: choose the next batches of a queue with order_by, max_in_flight or rate, and take for them what that needs: slots,
-- tokens, the heads of lines. Private to claim, which leases them in the same transaction, flushed.
--   room           free slots of the node
--   known_version  the newest message version the node knows
--   max_bytes      payload bytes; the first batch comes whatever its size
-- Answers the ids, by priority, then oldest first; `due_ms`: look again after so long, for then there may be more; `more`: others
-- could take more at once.
-- Locks: claim_gate (weakly), the rate's row, slots, lines and batches, all SKIP LOCKED. It waits for nobody but a registration
-- that makes slots.
create or replace function :SCHEMA.admit(
  queue text, room int, known_version int, max_bytes bigint,
  out ids bigint[], out due_ms bigint, out more boolean, out taken_bytes bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  q record;
  free int[];
  tokens int;
  rate record;
  now_ms bigint;
  part_ms bigint;
  ready int;
  headless boolean;
  taken_messages int;
begin
  lock table :SCHEMA.claim_gate in row share mode;
  more := false;
  taken_bytes := 0;
  select r.order_by is not null as ordered, r.exclusive or r.max_in_flight is not null as slotted, r.draining, r.rate_limit,
         r.rate_per_ms
    into q
    from :SCHEMA.queue r
   where r.queue_name = admit.queue and r.paused_at is null;
  if not found or room <= 0
     or not (:SCHEMA.has_pending(admit.queue) or (q.ordered and :SCHEMA.is_headless(admit.queue))) then
    return;
  end if;
  if q.rate_limit is not null then
    select * into rate from :SCHEMA.queue_rate t where t.queue_name = admit.queue for update skip locked;
    if not found then
      due_ms := 5;                                         -- another claim is at it
      return;
    end if;
    now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
    part_ms := greatest(1, q.rate_per_ms / 100);
    select q.rate_limit - coalesce(sum(p.used), 0), min(p.ends_at) + q.rate_per_ms - now_ms,
           coalesce(array_agg(p.ends_at order by p.ends_at), '{}'), coalesce(array_agg(p.used order by p.ends_at), '{}')
      into tokens, due_ms, rate.ends, rate.counts
      from unnest(rate.ends, rate.counts) as p (ends_at, used)
     where p.ends_at + q.rate_per_ms > now_ms;
    if tokens <= 0 then
      return;
    end if;
  end if;
  if q.slotted then
    if q.draining then
      if exists (
        select from :SCHEMA.queue_message_batch b
         where b.queue_name = admit.queue and b.status = 'processing'
           and not exists (select from :SCHEMA.queue_slot o where o.queue_name = b.queue_name and o.batch_id = b.id))
      then
        return;
      end if;
      -- Not where a registration holds the row: it may be waiting for the gate, which is ours.
      perform from :SCHEMA.queue r where r.queue_name = admit.queue for no key update skip locked;
      if found then
        update :SCHEMA.queue r set draining = false where r.queue_name = admit.queue;
      end if;
    end if;
    free := array(
      select s.slot from :SCHEMA.queue_slot s
       where s.queue_name = admit.queue and s.batch_id is null
       order by s.slot
       limit room
         for no key update skip locked);
    if cardinality(free) = 0 then
      -- Free, but locked by another claim, which may not use it.
      if exists (select from :SCHEMA.queue_slot s where s.queue_name = admit.queue and s.batch_id is null) then
        due_ms := 5;
      end if;
      return;
    end if;
    room := least(room, cardinality(free));
  end if;
  if q.ordered then
    select u.ready, u.headless into ready, headless from :SCHEMA.line_up(admit.queue, known_version, room + 1) u;
  end if;
  with pick as materialized (
    select b.id, b.bytes, b.message_count, b.priority
      from :SCHEMA.queue_message_batch b
     where b.queue_name = admit.queue and b.status = 'pending' and b.version <= known_version
       and (not q.ordered or b.order_key is null
            or exists (select from :SCHEMA.queue_line l
                        where l.queue_name = b.queue_name and l.order_key = b.order_key and l.head_id = b.id))
     order by b.priority, b.id
     limit room
       for update skip locked
  ), summed as (
    select p.*, row_number() over w as place, sum(p.bytes) over w as bytes_so_far, sum(p.message_count) over w as messages_so_far
      from pick p
    window w as (order by p.priority, p.id rows unbounded preceding)
  )
  select array_agg(s.id order by s.place), sum(s.message_count), coalesce(sum(s.bytes), 0)
    into ids, taken_messages, taken_bytes
    from summed s
   where (s.bytes_so_far <= max_bytes or s.place = 1)
     -- What alone is more than the limit (plain SQL, a lowered setting) goes when nothing else has gone.
     and (tokens is null or s.messages_so_far <= tokens or (s.place = 1 and tokens = q.rate_limit));
  if q.ordered and ids is not null then
    -- Once more with a new snapshot, now that they are locked: a head stays what it is as long as its batch does.
    select array_agg(c.id order by c.place), sum(b.message_count)
      into ids, taken_messages
      from unnest(ids) with ordinality as c (id, place)
      join :SCHEMA.queue_message_batch b on b.queue_name = admit.queue and b.id = c.id
     where b.order_key is null
        or exists (select from :SCHEMA.queue_line l
                    where l.queue_name = b.queue_name and l.order_key = b.order_key and l.head_id = b.id);
  end if;
  if ready < 0 then
    due_ms := 1;                                           -- long lines to be sorted out: go on soon
  elsif headless then
    due_ms := least(due_ms, 5);
  end if;
  if ids is null then
    return;
  end if;
  more := coalesce(ready > cardinality(ids), false);
  if q.slotted then
    update :SCHEMA.queue_slot s set batch_id = c.id
      from unnest(free[1:cardinality(ids)], ids) as c (slot, id)
     where s.queue_name = admit.queue and s.slot = c.slot;
  end if;
  if tokens is not null then
    now_ms := (now_ms / part_ms + 1) * part_ms;            -- the end of this part
    if rate.ends[cardinality(rate.ends)] >= now_ms then
      rate.counts[cardinality(rate.ends)] := rate.counts[cardinality(rate.ends)] + taken_messages;
    else
      rate.ends := rate.ends || now_ms;
      rate.counts := rate.counts || taken_messages;
    end if;
    update :SCHEMA.queue_rate t set ends = rate.ends, counts = rate.counts where t.queue_name = admit.queue;
    due_ms := coalesce(due_ms, now_ms + q.rate_per_ms - floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
  end if;
end $$;

--! split: 512-check_chain.sql
-- check_chain: the trigger that refuses a chain without an id, or with one too long to be a key of the progress.
create or replace function :SCHEMA.check_chain() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(octet_length(new.chain::json ->> 'id'), 0) not between 1 and 248 then
    raise check_violation using
      message = format('chain of a batch of queue "%s": expected JSON with an "id" of 1 to 248 bytes, found %s', new.queue_name,
                       left(new.chain, 100));
  end if;
  return new;
end $$;

--! split: 513-take.sql
-- take: lease the batches that admit() has chosen. Columns as claim's; each is a call of its own (D1).
create or replace function :SCHEMA.take(queue text, ids bigint[], node text)
returns table (
  queue_name text, id bigint, claim_token bigint, failures int, crashes int, priority int, version int, message_count int,
  bytes int, payload text, meta text, created_at timestamptz, origin_id bigint, origin_at timestamptz, positions int[],
  max_attempts int, call int, chain_id text
)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  update :SCHEMA.queue_message_batch b
     set status = 'processing', owner = node, status_heartbeat = clock_timestamp(), available_at = null,
         claim_token = floor(random() * 9007199254740991)::bigint
    from unnest(ids) with ordinality as c (id, call)
    join :SCHEMA.queue r on r.queue_name = take.queue
   where b.queue_name = take.queue and b.id = c.id
  returning b.queue_name, b.id, b.claim_token, b.failures, b.crashes, b.priority, b.version, b.message_count,
            b.bytes, b.payload, b.meta, b.created_at, b.origin_id, b.origin_at, b.positions,
            coalesce(b.max_attempts, r.max_attempts), c.call::int, b.chain::json ->> 'id';
end $$;

--! split: 514-pick.sql
-- pick: which pending batches of one queue a claim takes, by priority, then oldest first; they are locked. A part of claim, whose
-- planner settings its plans need.
--   queue, version            as in claim
--   n                         handler calls there is room for
--   share, room               payload bytes this queue may take, and the whole answer; a batch that is the first of the queue may
--                             use all the room, one that is the first of the answer (`first`) any
--   mark_*                    as in claim
--   most_messages, most_bytes what one call holds. Batches that have neither failed nor crashed, and are no chain's step, share a call while they fit;
--                             0: every batch is a call of its own
-- Answers the ids, the call each belongs to (1 to n), their bytes, and whether one was locked and left: others skipped it
-- meanwhile and must look again.
-- Row by row through a cursor, so that no more is locked than is taken, but for one: LIMIT needs to know how many rows fit before
-- their sizes are read, and a FOR loop fetches, and locks, fifty ahead.
create or replace function :SCHEMA.pick(
  queue text, version int, n int, share bigint, room bigint, first boolean,
  mark_queues text[], mark_priorities int[], mark_ids bigint[], most_messages int, most_bytes bigint,
  out ids bigint[], out calls int[], out taken bigint, out left_one boolean)
language plpgsql
as $$
declare
  waiting refcursor;
  b record;
  call int := 0;
  messages bigint;
  bytes bigint;
  open_call boolean := false;
begin
  ids := '{}';
  calls := '{}';
  taken := 0;
  left_one := false;
  if queue <> all (mark_queues) then
    open waiting no scroll for
      select m.id, m.bytes, m.message_count, m.failures = 0 and m.crashes = 0 and m.chain is null as mergeable
        from :SCHEMA.queue_message_batch m
       where m.queue_name = pick.queue and m.status = 'pending' and m.version <= pick.version
       order by m.priority, m.id
         for update skip locked;
  else
    open waiting no scroll for
      select l.*
        from (                                             -- the index in stretches: each marked priority, and what lies between
          select k.p as low, k.p as high, k.id as from_id
            from unnest(mark_queues, mark_priorities::bigint[], mark_ids) k (q, p, id) where k.q = pick.queue
          union all
          select coalesce(lag(k.p) over (order by k.p), -2147483649) + 1, k.p - 1, 0
            from unnest(mark_queues, mark_priorities::bigint[]) k (q, p) where k.q = pick.queue
          union all
          select coalesce(max(k.p), -2147483649) + 1, 2147483647, 0
            from unnest(mark_queues, mark_priorities::bigint[]) k (q, p) where k.q = pick.queue
           order by 1, 2) g
       cross join lateral (
         select m.id, m.bytes, m.message_count, m.failures = 0 and m.crashes = 0 and m.chain is null as mergeable
           from :SCHEMA.queue_message_batch m
          where m.queue_name = pick.queue and m.status = 'pending' and m.version <= pick.version
            and (m.priority, m.id) >= (g.low, g.from_id) and m.priority <= g.high
          order by m.priority, m.id
            for update skip locked) l;
  end if;
  loop
    fetch waiting into b;
    exit when not found;
    left_one := taken + b.bytes > case when ids <> '{}' then share when first then b.bytes else room end;
    exit when left_one;
    if not (open_call and b.mergeable and messages + b.message_count <= most_messages and bytes + b.bytes <= most_bytes) then
      left_one := call = n;
      exit when left_one;
      call := call + 1;
      messages := 0;
      bytes := 0;
      open_call := b.mergeable;
    end if;
    ids := ids || b.id;
    calls := calls || call;
    taken := taken + b.bytes;
    messages := messages + b.message_count;
    bytes := bytes + b.bytes;
    exit when call = n and (messages >= most_messages or not open_call);
  end loop;
  close waiting;
end $$;

--! split: 515-claim.sql
-- claim: lease the next batches of these queues, by priority, then oldest first.
--   queues, limits, versions  per queue: its name, handler calls this node has room for, newest message version it knows
--   node                      the owner to write
--   max_bytes                 payload bytes of one answer; the first batch comes whatever its size. A queue's share is what is left,
--                             divided by the queues still to come, so that a queue of large batches starves nobody
--   mark_queues, mark_priorities, mark_ids  low-water marks: batches of that queue and priority with a smaller id are not
--                             looked for. Behind a long snapshot the head of the index is dead entries that nothing can
--                             remove, and every claim would read them all (100,000 of them: 15 ms instead of 0.1 ms)
--   merge_messages, merge_bytes  per queue: what one handler call may hold of several batches; none: each is a call of its own
-- `call` numbers the handler calls of each queue from 1; batches with the same number are handled together (D1).
-- A queue with order_by, max_in_flight or rate is admit()'s: none of its batches is merged. A row without an id says in its
-- claim_token after how many milliseconds such a queue has more.
-- Queue by queue and not one statement for all: starting a statement that knows slots, marks and shares took 0.4 ms of every claim,
-- most of which want one plain queue.
-- Locks: claim_gate (weakly), free slot rows (SKIP LOCKED), picked rows (SKIP LOCKED). It waits for nobody, apart from a
-- registration that makes or drops a slot. Index: queue_message_batch_pending.
-- Must run at READ COMMITTED. 'pending' must stay a literal, or the partial index cannot be used in a generic plan. The
-- planner settings keep the plan at nested loops over that index, in its order, whatever the statistics say.
-- Commits asynchronously: a claim lost in a crash of the server is a batch nobody has, still pending. Not so with a slot,
-- a token or the head of a line: a second node would get the same one, so a claim that took any is flushed.
create or replace function :SCHEMA.claim(
  queues text[], limits int[], versions int[], node text, max_bytes bigint default 67108864,
  mark_queues text[] default '{}', mark_priorities int[] default '{}', mark_ids bigint[] default '{}',
  merge_messages int[] default '{}', merge_bytes bigint[] default '{}')
returns table (
  queue_name text, id bigint, claim_token bigint, failures int, crashes int, priority int, version int, message_count int,
  bytes int, payload text, meta text, created_at timestamptz, origin_id bigint, origin_at timestamptz, positions int[],
  max_attempts int, call int, chain_id text
)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  room bigint := max_bytes;
  q record;
  free int[];
  picked record;
  admitted record;
  flush boolean := false;
  first boolean := true;
  left_in text[] := '{}';
begin
  lock table :SCHEMA.claim_gate in row share mode;
  for i in 1 .. cardinality(queues) loop
    select coalesce(r.max_attempts, 5) as attempts, r.paused_at is not null as paused, r.flow is true as flow, limits[i] as n,
           exists (select from :SCHEMA.queue_slot s where s.queue_name = queues[i]) as slotted
      into q
      from (values (queues[i])) w (name)
      left join :SCHEMA.queue r on r.queue_name = w.name;
    continue when q.paused;
    if q.flow then
      admitted := :SCHEMA.admit(queues[i], limits[i], versions[i], room);
      if admitted.ids is not null then
        flush := true;
        first := false;
        return query select t.* from :SCHEMA.take(queues[i], admitted.ids, node) t;
      end if;
      if admitted.due_ms is not null then
        queue_name := queues[i];
        claim_token := admitted.due_ms;
        return next;
      end if;
      if admitted.more then
        left_in := left_in || queues[i];
      end if;
      room := greatest(0, room - admitted.taken_bytes);
      continue;
    end if;
    if q.slotted then
      free := array(
        select s.slot
          from :SCHEMA.queue_slot s
         where s.queue_name = queues[i] and s.batch_id is null
           and not exists (                                -- what was in flight when the slot was made drains first
             select from :SCHEMA.queue_message_batch b
              where b.queue_name = s.queue_name and b.status = 'processing'
                and not exists (select from :SCHEMA.queue_slot o where o.queue_name = b.queue_name and o.batch_id = b.id))
           for no key update skip locked);
      q.n := least(q.n, cardinality(free));
    end if;
    continue when q.n <= 0;
    select * into picked
      from :SCHEMA.pick(queues[i], versions[i], q.n, room / (cardinality(queues) - i + 1), room, first,
                        mark_queues, mark_priorities, mark_ids,
                        case when q.slotted then 0 else coalesce(merge_messages[i], 0) end, coalesce(merge_bytes[i], 0));
    if picked.left_one then
      left_in := left_in || queues[i];
    end if;
    continue when picked.ids = '{}';
    first := false;
    room := room - picked.taken;
    if q.slotted then
      flush := true;
      update :SCHEMA.queue_slot s set batch_id = p.id
        from unnest(free, picked.ids) p (slot, id)
       where s.queue_name = queues[i] and s.slot = p.slot and p.id is not null;
    end if;
    return query
    update :SCHEMA.queue_message_batch b
       set status = 'processing', owner = node, status_heartbeat = clock_timestamp(), available_at = null,
           claim_token = floor(random() * 9007199254740991)::bigint
      from unnest(picked.ids, picked.calls) p (id, call)
     where b.queue_name = queues[i] and b.id = p.id        -- by key, never by ctid: the row may have moved since the snapshot
    returning b.queue_name, b.id, b.claim_token, b.failures, b.crashes, b.priority, b.version, b.message_count,
              b.bytes, b.payload, b.meta, b.created_at, b.origin_id, b.origin_at, b.positions,
              coalesce(b.max_attempts, q.attempts), p.call, b.chain::json ->> 'id';
  end loop;
  if not flush then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  if left_in <> '{}' then
    -- With PUB: who falls asleep meanwhile skips what we have locked, and must look again after our commit.
    perform :SCHEMA.announce(left_in);
  end if;
end $$;

--! split: 516-dead_letter.sql
-- dead_letter: give these batches up at once, whatever attempts are left. The ids that were still ours.
--   queues, ids, tokens  the fence of each batch
--   reasons              schema, decode or rejected
--   errors               the error text to keep, any bytes
-- Locks: the rows in (queue_name, id) order, then the slots they held, then the lines they headed.
create or replace function :SCHEMA.dead_letter(queues text[], ids bigint[], tokens bigint[], reasons text[], errors text[])
returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  with gone as (
    delete from :SCHEMA.queue_message_batch b
     using (select * from unnest(queues, ids, tokens, reasons, errors) as a (q, id, token, reason, error) order by 1, 2) a
     where b.queue_name = a.q and b.id = a.id and b.claim_token = a.token and b.status = 'processing'
    returning b.*, a.reason, a.error
  ), buried as (
    insert into :SCHEMA.dead_message_batch (
      queue_name, batch_id, reason, error, failures, crashes, owner, priority, version, created_at, message_count,
      payload, meta, origin_id, origin_at, positions, max_attempts, stale_after_ms,
      chain, history, tracked, order_key, unique_key)
    select g.queue_name, g.id, g.reason, g.error, g.failures, g.crashes, g.owner, g.priority, g.version, g.created_at,
           g.message_count, g.payload, g.meta, g.origin_id, g.origin_at, g.positions, g.max_attempts, g.stale_after_ms,
           g.chain, g.history, g.tracked, g.order_key, g.unique_key
      from gone g
     where g.chain is not null or g.tracked
        or not exists (select from :SCHEMA.queue r where r.queue_name = g.queue_name and not r.dead_letter)
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from gone g where s.queue_name = g.queue_name and s.batch_id = g.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from gone g
     where l.queue_name = g.queue_name and l.order_key = g.order_key and l.head_id = g.id
  )
  select g.id from gone g;
  if found then
    perform :SCHEMA.pass_on();
  end if;
end $$;

--! split: 517-depths.sql
-- depths: what each queue holds; behind counts as pending. Queues are those registered and those that have batches or dead letters.
--   max_rows  no status of any queue is counted further
-- Delayed batches are counted over the whole table once: their index is led by the time.
create or replace function :SCHEMA.depths(max_rows int default 10001)
returns table (queue_name text, pending bigint, delayed bigint, processing bigint, dead bigint, oldest_at timestamptz, paused boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
begin
  return query
  with recursive stored as (                               -- one index descent per queue, however many rows it has
    (select b.queue_name as q from :SCHEMA.queue_message_batch b order by b.queue_name limit 1)
    union all
    select (select b.queue_name from :SCHEMA.queue_message_batch b where b.queue_name > s.q order by b.queue_name limit 1)
      from stored s where s.q is not null
  ), buried as (
    (select d.queue_name as q from :SCHEMA.dead_message_batch d order by d.queue_name limit 1)
    union all
    select (select d.queue_name from :SCHEMA.dead_message_batch d where d.queue_name > s.q order by d.queue_name limit 1)
      from buried s where s.q is not null
  ), named as (
    select r.queue_name as q from :SCHEMA.queue r
    union select s.q from stored s where s.q is not null
    union select u.q from buried u where u.q is not null
  ), waiting as materialized (
    select d.queue_name as q, count(*) as n
      from (select b.queue_name from :SCHEMA.queue_message_batch b
             where b.status = 'delayed' order by b.available_at limit max_rows) d
     group by d.queue_name
  )
  select n.q,
         (select count(*) from (select from :SCHEMA.queue_message_batch b
                                 where b.queue_name = n.q and b.status = 'pending' limit max_rows) c)
         + (select count(*) from (select from :SCHEMA.queue_message_batch b
                                   where b.queue_name = n.q and b.order_key is not null and b.status <> 'processing'
                                     and b.status = 'behind' limit max_rows) c),
         coalesce((select w.n from waiting w where w.q = n.q), 0),
         (select count(*) from (select from :SCHEMA.queue_message_batch b
                                 where b.queue_name = n.q and b.status = 'processing' limit max_rows) c),
         (select count(*) from (select from :SCHEMA.dead_message_batch d where d.queue_name = n.q limit max_rows) c),
         (select coalesce(b.origin_at, b.created_at) from :SCHEMA.queue_message_batch b
           where b.queue_name = n.q and b.status = 'pending' order by b.priority, b.id limit 1),
         exists (select from :SCHEMA.queue r where r.queue_name = n.q and r.paused_at is not null)
    from named n
   order by n.q;
end $$;

--! split: 518-divide.sql
-- divide: replace one batch by batches of one message, each of which then runs alone (D4, R5).
--   queue, batch_id, token   the fence
--   payloads, metas, places  per message that stays: a JSON array of one, its headers likewise, its place in the origin. The
--                            node splits: SQL that did would fail whole on one row that is no JSON
--   last_attempt             true: the batch has failed its last time, and each message has one attempt left.
--                            false: it has crashed; failures and crashes go over as they are
--   delay_ms, error          the wait, and the error text to keep (null: the batch's own)
-- Answers the new ids in order; none when the batch was no longer ours, and then nothing was written. The messages keep the
-- ids they had, by origin_id and positions (D13).
-- They keep their place in line, but no unique key: a batch of several messages has none.
-- Locks: the row, then the slot it held, then the line it headed, then PUB.
-- Runs with its owner's rights: a role that may only consume must not insert otherwise.
create or replace function :SCHEMA.divide(
  queue text, batch_id bigint, token bigint, payloads text[], metas text[], places int[],
  last_attempt boolean, delay_ms bigint, error text)
returns setof bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with gone as (
    delete from :SCHEMA.queue_message_batch b
     where b.queue_name = queue and b.id = divide.batch_id and b.claim_token = token and b.status = 'processing'
    returning b.*
  ), single as (
    insert into :SCHEMA.queue_message_batch (
      queue_name, status, available_at, priority, version, created_at, failures, crashes, message_count, payload, meta,
      origin_id, origin_at, positions, max_attempts, stale_after_ms, order_key, last_error, history, quiet)
    select g.queue_name,
           case when delay_ms > 0 then 'delayed' else 'pending' end,
           case when delay_ms > 0 then clock_timestamp() + delay_ms * interval '1 millisecond' end,
           g.priority, g.version, g.created_at,
           case when last_attempt then coalesce(g.max_attempts, r.max_attempts, 5) - 1 else g.failures end,
           g.crashes, 1, m.payload, m.meta, coalesce(g.origin_id, g.id), coalesce(g.origin_at, g.created_at), array[m.place],
           g.max_attempts, g.stale_after_ms, g.order_key, coalesce(divide.error, g.last_error), g.history, true
      from gone g
      left join :SCHEMA.queue r on r.queue_name = g.queue_name
     cross join unnest(payloads, metas, places) with ordinality as m (payload, meta, place, n)
     order by m.n
    returning id
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from gone g where s.queue_name = g.queue_name and s.batch_id = g.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from gone g
     where l.queue_name = g.queue_name and l.order_key = g.order_key and l.head_id = g.id
  )
  select n.id from single n;
  if found then
    perform :SCHEMA.pass_on();
    perform :SCHEMA.announce(array[queue], true);
  end if;
end $$;

--! split: 519-due_schedules.sql
-- due_schedules: the schedules that have come, soonest first, and after them the one that comes next: how long until then.
--   max_rows  bound of one answer
-- `now` is this clock: nodes compute occurrences, and never ask their own.
create or replace function :SCHEMA.due_schedules(max_rows int default 100)
returns table (queue_name text, entry text, cron text, time_zone text, catch_up int, next_at timestamptz,
               wait_ms bigint, now timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  read_at timestamptz := clock_timestamp();
begin
  return query
  select s.queue_name, s.entry, s.cron, s.time_zone, s.catch_up, s.next_at,
         greatest(0, ceil(extract(epoch from s.next_at - read_at) * 1000))::bigint, read_at
    from :SCHEMA.schedule s
   where s.next_at <= read_at or s.next_at = (select min(n.next_at) from :SCHEMA.schedule n where n.next_at > read_at)
   order by s.next_at
   limit max_rows;
end $$;

--! split: 520-fall_asleep.sql
-- fall_asleep: take SLEEP for these queues on this session, step C1 of the wake-up protocol; the keys taken.
-- Runs on the LISTEN connection. Afterwards: probe PUB, then claim with a new snapshot, and only then sleep.
create or replace function :SCHEMA.fall_asleep(queues text[]) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys int[] := array(select distinct :SCHEMA.wake_key(q) from unnest(queues) q order by 1);
  k int;
begin
  foreach k in array keys loop
    perform pg_advisory_lock_shared(7302, k);
  end loop;
  return keys;
end $$;

--! split: 521-owner_key.sql
-- owner_key: the advisory-lock key of a node's life (class 7303). Held shared by the node's LISTEN connection; whoever gets
-- it exclusively knows that the node's session is gone.
create or replace function :SCHEMA.owner_key(owner text) returns int
language sql stable parallel safe
as $$ select hashtext(:SCHEMA_LITERAL || '.' || owner) $$;

--! split: 522-is_alive.sql
-- is_alive: whether a session holds this node's life lock.
-- One expression, as in wake. Two probes that meet fail each other: whoever asks to take work from the dead then takes
-- them for alive, and asks again a round later.
create or replace function :SCHEMA.is_alive(owner text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int := :SCHEMA.owner_key(owner);
begin
  return case when pg_try_advisory_lock(7303, k) then not pg_advisory_unlock(7303, k) else true end;
end $$;

--! split: 523-unconsumable.sql
-- unconsumable: waiting batches that are newer than every live node which knows their queue, per queue (D10).
--   max_rows  how far into each queue to count; what lies further is not seen
-- A queue that no live node knows is not counted: its messages wait for a node, not for a version.
create or replace function :SCHEMA.unconsumable(max_rows int default 10000)
returns table (queue_name text, known_version int, batches bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  return query
  with living as materialized (
    select n.versions
      from :SCHEMA.node n
     where n.stopped_at is null and (n.session_at is null or :SCHEMA.is_alive(n.owner))
  ), known as materialized (
    select v.key as q, max(v.value::int) as v from living l cross join lateral jsonb_each_text(l.versions) v group by v.key
  )
  select k.q, k.v, c.n
    from known k
   cross join lateral (
     select count(*) as n
       from (select b.version from :SCHEMA.queue_message_batch b
              where b.queue_name = k.q and b.status = 'pending' order by b.priority, b.id limit max_rows) b
      where b.version > k.v) c
   where c.n > 0;
end $$;

--! split: 524-gauges.sql
-- gauges: what the metrics show of each queue (M2), in one statement: its depths, the age of its oldest waiting message, and
-- how many waiting batches no live node can consume (D10).
--   max_rows  no status of any queue is counted further; beyond that the count is the planner's estimate, and `estimated`
--             names the status. Never below what was counted.
-- Ages are by the database's clock. Volatile: EXPLAIN is not allowed otherwise.
create or replace function :SCHEMA.gauges(max_rows int default 10000)
returns table (queue_name text, pending bigint, delayed bigint, processing bigint, dead bigint, estimated text[],
               oldest_age_s float8, unconsumable bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  delayed_in_all bigint;
  status text;
  plan json;
  rows bigint;
begin
  for queue_name, pending, delayed, processing, dead, oldest_age_s, unconsumable, delayed_in_all in
    select d.queue_name, d.pending, d.delayed, d.processing, d.dead,
           greatest(0, extract(epoch from statement_timestamp() - d.oldest_at)), coalesce(u.batches, 0),
           sum(d.delayed) over ()
      from :SCHEMA.depths(max_rows + 1) d
      left join :SCHEMA.unconsumable(max_rows) u on u.queue_name = d.queue_name
  loop
    estimated := '{}';
    if dead > max_rows then estimated := estimated || 'dead'::text; end if;
    if pending > max_rows then estimated := estimated || 'pending'::text; end if;
    if processing > max_rows then estimated := estimated || 'processing'::text; end if;
    -- Counted over all queues together, so that each queue's part is short once their sum is.
    if delayed > 0 and delayed_in_all > max_rows then estimated := estimated || 'delayed'::text; end if;
    foreach status in array estimated loop
      execute format('explain (format json) select from %I.%I where queue_name = %L%s',
                     :SCHEMA_LITERAL, case status when 'dead' then 'dead_message_batch' else 'queue_message_batch' end,
                     queue_name, case status when 'dead' then '' else format(' and status = %L', status) end) into plan;
      rows := (plan->0->'Plan'->>'Plan Rows')::bigint;
      case status
        when 'dead' then dead := greatest(dead, rows);
        when 'pending' then pending := greatest(pending, rows);
        when 'processing' then processing := greatest(processing, rows);
        else delayed := greatest(delayed, rows);
      end case;
    end loop;
    return next;
  end loop;
end $$;

--! split: 525-heartbeat.sql
-- heartbeat: these leases live on. Answers kept, skipped (locked by a settling statement: ask again) or lost for each.
--   queues, ids, tokens  the fence of each batch
-- By token and not by id: a node that was taken over by itself holds two leases of one batch, and only one of them lives (R1).
-- Locks: the rows in (queue_name, id) order, SKIP LOCKED (without it: 8 deadlocks in 159 calls beside acks).
-- By ctid, which no other statement may do: a row that moved between snapshot and lock is missed, and that is answered
-- skipped. It saves the second descent into the index, a third of all this call reads. Index: queue_message_batch_processing.
create or replace function :SCHEMA.heartbeat(queues text[], ids bigint[], tokens bigint[])
returns table (token bigint, answer text)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with mine as materialized (
    select b.ctid as place
      from unnest(queues, ids, tokens) as a (q, id, token)
      join :SCHEMA.queue_message_batch b on b.queue_name = a.q and b.id = a.id
     where b.claim_token = a.token and b.status = 'processing'
     order by b.queue_name, b.id
       for update of b skip locked
  ), beat as (
    update :SCHEMA.queue_message_batch b set status_heartbeat = clock_timestamp()
      from mine m
     where b.ctid = m.place
    returning b.claim_token
  )
  select a.token,
         case
           when a.token in (select t.claim_token from beat t) then 'kept'  -- hashed, where EXISTS would compare each with each
           when exists (select from :SCHEMA.queue_message_batch b
                         where b.queue_name = a.q and b.id = a.id and b.claim_token = a.token and b.status = 'processing')
             then 'skipped'
           else 'lost'
         end
    from unnest(queues, ids, tokens) as a (q, id, token);
end $$;

--! split: 526-history_with.sql
-- history_with: a history with one death more, of the last twenty. Private to redrive.
--   history  JSON array, or null
--   letter   the dead letter
create or replace function :SCHEMA.history_with(history text, letter :SCHEMA.dead_message_batch) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_agg(d.death order by d.n)::text
    from (select h.value as death, h.n
            from json_array_elements(coalesce(history, '[]')::json) with ordinality h (value, n)
           where h.n > json_array_length(coalesce(history, '[]')::json) - 19
          union all
          select json_build_object('reason', letter.reason, 'error', left(letter.error, 2000), 'failures', letter.failures,
                   'crashes', letter.crashes, 'owner', letter.owner, 'diedAt', letter.died_at), 1000000) d
$$;

--! split: 527-insert_batch.sql
-- insert_batch: one row for publish(). Private to it.
create or replace function :SCHEMA.insert_batch(
  queue text, chunk text, messages int, version int, delay_ms bigint, priority int, headers jsonb,
  order_key text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  new_id bigint;
begin
  insert into :SCHEMA.queue_message_batch (queue_name, version, priority, message_count, payload, meta, status, available_at, order_key)
  values (queue, version, priority, messages, '[' || chunk || ']',
          '[' || rtrim(repeat(headers::text || ',', messages), ',') || ']',
          case when delay_ms > 0 then 'delayed' else 'pending' end,
          case when delay_ms > 0 then clock_timestamp() + delay_ms * interval '1 millisecond' end,
          insert_batch.order_key)
  returning id into new_id;
  return new_id;
end $$;

--! split: 528-insert_one.sql
-- insert_one: one pending batch of the library's own; its id.
--   announces  true: PUB and the wake-up are part of the inserting transaction, which saves the lone publisher a round trip;
--              false: the caller wakes after its commit, so that the commits of many stay parallel
-- The usual publish. A routine keeps its plan for the session, where the same INSERT as a statement is planned at every
-- call: 190 instead of 290 microseconds (a bare two-column table: 140). Named statements would do too, but not every
-- pooler has them. No search_path is set here: that alone costs 30 microseconds, and every name below is qualified.
--
-- A procedure, because it commits twice where somebody sleeps. The first is not flushed: the row is there and the sleepers are woken while the
-- disk is still writing (a third of the way to an idle handler: 1.05 instead of 1.53 ms), and the lock that every notifying
-- commit of the cluster queues for is not held across the flush. The second is, and what is flushed is the log up to there: an
-- answer means stored. Who claims in between holds nothing that a crash of the server could contradict: without the row no
-- claim of it is in the log either, and the publish was never answered.
-- setval is the cheapest way to a commit that must be flushed: a transaction without a log record of its own would not be. A
-- logical message does it too, but shows up in the streams of whoever decodes the log.
create or replace procedure :SCHEMA.insert_one(
  queue text, version int, priority int, message_count int, payload text, meta text, announces boolean, inout id bigint default null)
language plpgsql
as $$
#variable_conflict use_column
declare
  k int;
begin
  insert into :SCHEMA.queue_message_batch (queue_name, version, priority, message_count, payload, meta, quiet)
  values (insert_one.queue, insert_one.version, insert_one.priority, insert_one.message_count, insert_one.payload,
          insert_one.meta, true)
  returning id into insert_one.id;
  if announces then
    -- As announce and wake do, for one queue: their calls, loops and pinned search_path took 100 of 360 microseconds.
    k := :SCHEMA.wake_key(queue);
    perform pg_advisory_xact_lock_shared(7301, k);
    if (case when pg_try_advisory_lock(7302, k) then not pg_advisory_unlock(7302, k) else true end) then
      perform pg_notify(:SCHEMA_LITERAL, k::text);
      perform set_config('synchronous_commit', 'off', true);
      commit;
      perform setval(format('%I.flush_point', :SCHEMA_LITERAL)::regclass, 1);
    end if;
  end if;
end $$;

--! split: 529-insert_unique.sql
-- insert_unique: one batch of a queue with `unique` (J9), stored unless its key is taken. Never an error for that.
--   new_id                 from next_batch_id(): taken beforehand, in the order of publishing
--   unique_key             null: never a conflict
--   unique_running         whether the key is held while the batch runs, too
--   replaces               what waits under the key is deleted for this one; what runs never is
--   announces              true: sleepers are notified by this transaction; false: the caller wakes after its commit
-- Answers the id of the batch, or with `stored` false that of the one that holds the key.
-- A key that another transaction is just about to take, or to give back, is waited for until that one has ended. The calls of
-- one statement come in the order of their keys, or two of them wait for each other.
-- Runs with its owner's rights: a role that may only publish must not delete otherwise.
create or replace function :SCHEMA.insert_unique(
  new_id bigint, queue text, version int, priority int, message_count int, payload text, meta text, max_attempts int,
  stale_after_ms bigint, available_at timestamptz, order_key text, unique_key text, unique_running boolean, replaces boolean,
  announces boolean)
returns table (id bigint, stored boolean)
language plpgsql security definer rows 1
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  holder record;
begin
  loop
    if insert_unique.replaces then
      delete from :SCHEMA.queue_message_batch b
       where b.queue_name = insert_unique.queue and b.unique_key = insert_unique.unique_key
         and (b.unique_running or (not b.unique_running and b.status <> 'processing')) and b.status <> 'processing';
    end if;
    insert into :SCHEMA.queue_message_batch (
      id, queue_name, version, priority, message_count, payload, meta, max_attempts, stale_after_ms, status, available_at,
      order_key, unique_key, unique_running, quiet)
    overriding system value
    values (
      new_id, insert_unique.queue, insert_unique.version, insert_unique.priority, insert_unique.message_count,
      insert_unique.payload, insert_unique.meta, insert_unique.max_attempts, insert_unique.stale_after_ms,
      case when insert_unique.available_at is null then 'pending' else 'delayed' end, insert_unique.available_at,
      insert_unique.order_key, insert_unique.unique_key,
      case when insert_unique.unique_key is not null then insert_unique.unique_running end, true)
    on conflict (queue_name, unique_key) where unique_running or (not unique_running and status <> 'processing') do nothing;
    if found then
      if insert_unique.announces then
        perform :SCHEMA.announce(array[insert_unique.queue], insert_unique.available_at is not null);
      end if;
      return query select new_id, true;
      return;
    end if;
    select b.id, b.status into holder
      from :SCHEMA.queue_message_batch b
     where b.queue_name = insert_unique.queue and b.unique_key = insert_unique.unique_key
       and (b.unique_running or (not b.unique_running and b.status <> 'processing'));
    -- Gone again meanwhile, or newly come: once more.
    if found and (holder.status = 'processing' or not insert_unique.replaces) then
      return query select holder.id, false;
      return;
    end if;
  end loop;
end $$;

--! split: 530-is_due_known.sql
-- is_due_known: whether a batch waits already that is due before one that waits from now on: then every sleeper has set its
-- timer no later than that, and need not be told of the new one. Asked before the batch is made to wait.
--   after_ms  when the new one is due
-- What is due within 100 ms does not count: it may be promoted, and a sleeper set its next timer, before we commit.
-- Index: queue_message_batch_delayed.
create or replace function :SCHEMA.is_due_known(after_ms bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return after_ms > 100 and exists (
    select from :SCHEMA.queue_message_batch b
     where b.status = 'delayed' and b.available_at > clock_timestamp() + interval '100 milliseconds'
       and b.available_at <= clock_timestamp() + after_ms * interval '1 millisecond');
end $$;

--! split: 531-keep_refusals.sql
-- keep_refusals: what a node claims no more because all of it died of its schema (D6), and what somebody has resumed meanwhile.
-- The node's row holds it, so that status shows it, and so that resuming reaches the node also without LISTEN (J7).
--   node   its owner id
--   fresh  queues it refuses from now on
--   known  queues it refuses, and has said so before
-- Answers those of `known` that were resumed since. Locks: the node's row, where there is something fresh.
create or replace function :SCHEMA.keep_refusals(node text, fresh text[], known text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(fresh) > 0 then
    update :SCHEMA.node n set refused = array(select unnest(n.refused) union select unnest(fresh))
     where n.owner = keep_refusals.node;
  end if;
  return array(select q from unnest(known) q
                where exists (select from :SCHEMA.node n where n.owner = keep_refusals.node and q <> all (n.refused)));
end $$;

--! split: 532-keep_schedules.sql
-- keep_schedules: the schedules of a queue, as a starting node knows them. What it does not name is removed, and what it names
-- keeps its place in time. Nothing is changed where a newer version of the queue is recorded (J6, Q3).
--   queue, its_version  the queue, and the version the node knows
--   entries             hash of each entry's cron, time zone and message
--   crons, zones, payloads, catch_ups  as in the table
--   next_ats            each entry's first occurrence from now on, for those that are new; null: none
-- Locks: the registry's row, then the schedules.
create or replace function :SCHEMA.keep_schedules(
  queue text, its_version int, entries text[], crons text[], zones text[], payloads text[], catch_ups int[],
  next_ats timestamptz[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from :SCHEMA.queue r where r.queue_name = queue and r.version > its_version for share;
  if found then
    return;
  end if;
  delete from :SCHEMA.schedule s where s.queue_name = queue and s.entry <> all (entries);
  insert into :SCHEMA.schedule as s (queue_name, entry, cron, time_zone, payload, version, catch_up, next_at)
  select queue, e.entry, e.cron, e.zone, e.payload, its_version, e.catch_up, e.next_at
    from unnest(entries, crons, zones, payloads, catch_ups, next_ats) as e (entry, cron, zone, payload, catch_up, next_at)
   order by e.entry
  on conflict on constraint schedule_pkey do update set catch_up = excluded.catch_up, version = excluded.version
   where (s.catch_up, s.version) is distinct from (excluded.catch_up, excluded.version);
end $$;

--! split: 533-next_batch_id.sql
-- next_batch_id: an id for insert_unique(), which inserts in another order than the ids'. Private to the library's inserts.
-- Runs with its owner's rights: who may insert is not given the sequence.
create or replace function :SCHEMA.next_batch_id() returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select nextval(pg_get_serial_sequence(format('%I.queue_message_batch', :SCHEMA_LITERAL), 'id'));
$$;

--! split: 534-next_due_ms.sql
-- next_due_ms: milliseconds until the next delayed batch of any queue is due; null when none waits.
-- A batch that is due already but was not promoted is locked by somebody: 50, or every node would spin on it.
create or replace function :SCHEMA.next_due_ms() returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  ms numeric;
begin
  select extract(epoch from b.available_at - clock_timestamp()) * 1000
    into ms
    from :SCHEMA.queue_message_batch b
   where b.status = 'delayed'
   order by b.available_at
   limit 1;
  return case when ms > 0 then ceil(ms)::bigint when ms <= 0 then 50 end;
end $$;

--! split: 535-note_death.sql
-- note_death: the progress of what has just died has failed. The trigger behind every way to die. Of a queue without dead
-- letters only what has a progress comes here, and is dropped.
create or replace function :SCHEMA.note_death() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform :SCHEMA.write_progress(coalesce('chain:' || (new.chain::json ->> 'id'), new.batch_id::text), null, null, 'failed');
  if exists (select from :SCHEMA.queue r where r.queue_name = new.queue_name and not r.dead_letter) then
    return null;
  end if;
  return new;
end $$;

--! split: 536-note_node.sql
-- note_node: the start or the end of a node. Who lives is read from the session locks; this is for people, for recovery (a
-- node that never had a session cannot be told from a dead one) and for counting what nobody can consume.
--   owner, name  the node's life, and what people call it
--   versions     at its start, the newest message version it knows, by queue; null: it ends
create or replace function :SCHEMA.note_node(owner text, name text, versions jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if versions is null then
    update :SCHEMA.node n set stopped_at = clock_timestamp() where n.owner = note_node.owner;
  else
    insert into :SCHEMA.node as n (owner, name, versions) values (note_node.owner, note_node.name, note_node.versions)
    on conflict on constraint node_pkey do update set versions = excluded.versions, stopped_at = null;
  end if;
end $$;

--! split: 537-occur.sql
-- occur: store occurrences of a schedule that have come due. Of any number of callers one does: the one that moves `next_at`.
--   queue, entry_key  the schedule
--   expected          its next_at as the caller saw it; must have come, by this clock
--   following         its next one; null: there is none
--   occurrences       which of those due are stored, oldest first; the others were missed
-- Answers how many were stored; null when somebody else has moved it, or it has not come yet.
-- They stand in the line of their message (J10), but have no unique key: each occurrence is stored.
-- Each is a batch with the header `scheduled-at`. Wakes.
-- Locks: the schedule's row, then PUB.
-- Runs with its owner's rights: a role that may only consume must not insert otherwise.
create or replace function :SCHEMA.occur(
  queue text, entry_key text, expected timestamptz, following timestamptz, occurrences timestamptz[]) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  kept record;
begin
  update :SCHEMA.schedule s
     set next_at = following, last_at = coalesce(occurrences[cardinality(occurrences)], s.last_at)
   where s.queue_name = queue and s.entry = entry_key and s.next_at = expected and s.next_at <= clock_timestamp()
  returning s.payload, s.version into kept;
  if not found then
    return null;
  end if;
  insert into :SCHEMA.queue_message_batch (queue_name, version, payload, meta, order_key, quiet)
  select queue, kept.version, kept.payload,
         json_build_array(json_build_object('scheduled-at', to_char(o.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text,
         (select :SCHEMA.message_key(kept.payload, array[r.order_by])
            from :SCHEMA.queue r where r.queue_name = queue and r.order_by is not null),
         true
    from unnest(occurrences) with ordinality o (at, n)
   order by o.n;
  perform :SCHEMA.announce(array[queue], true);
  return cardinality(occurrences);
end $$;

--! split: 538-publisher_in_flight.sql
-- publisher_in_flight: whether a transaction that publishes to one of these queues is still open, step C2.
-- One expression per probe, as in wake.
create or replace function :SCHEMA.publisher_in_flight(queues text[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int;
begin
  for k in select distinct :SCHEMA.wake_key(q) from unnest(queues) q order by 1 loop
    if (case when pg_try_advisory_lock(7301, k) then not pg_advisory_unlock(7301, k) else true end) then
      return true;
    end if;
  end loop;
  return false;
end $$;

--! split: 539-prune_versions.sql
-- prune_versions: delete recorded versions that nothing needs any more (Q3); the count of rows deleted. Private to prune.
-- Kept is what the registry names, what a living node knows, what was registered within a week, and every version with a
-- batch waiting, in flight or dead. Rows carry a version and no hash, so they keep every schema of their version.
--   max_rows  how many batches and how many dead letters of a queue are looked through; a queue that has more keeps all of
--             its versions, for no index is led by the version
-- Locks: the rows in the order of their key, SKIP LOCKED. A registration meanwhile is seen: it changes the row.
create or replace function :SCHEMA.prune_versions(max_rows int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  gone int;
begin
  with old as materialized (                               -- nearly always empty: then nothing below is read
    select v.queue_name, v.version, v.schema_hash
      from :SCHEMA.queue_version v
     where v.registered_at < clock_timestamp() - interval '7 days'
       and not exists (select from :SCHEMA.queue r
                        where r.queue_name = v.queue_name and r.version = v.version and r.schema_hash = v.schema_hash)
       and not exists (select from :SCHEMA.node n
                        where n.stopped_at is null and (n.versions ->> v.queue_name)::int = v.version
                          and (n.session_at is null or :SCHEMA.is_alive(n.owner)))
  ), unused as materialized (
    select o.queue_name, o.version, o.schema_hash
      from old o
     cross join lateral (
       select count(*) < max_rows and count(*) filter (where b.version = o.version) = 0 as yes
         from (select b.version from :SCHEMA.queue_message_batch b where b.queue_name = o.queue_name limit max_rows) b) waiting
     cross join lateral (
       select count(*) < max_rows and count(*) filter (where d.version = o.version) = 0 as yes
         from (select d.version from :SCHEMA.dead_message_batch d where d.queue_name = o.queue_name limit max_rows) d) dead
     where waiting.yes and dead.yes
  ), locked as materialized (
    select v.queue_name, v.version, v.schema_hash
      from unused u
      join :SCHEMA.queue_version v using (queue_name, version, schema_hash)
     where v.registered_at < clock_timestamp() - interval '7 days'
     order by v.queue_name, v.version, v.schema_hash
       for update of v skip locked
  )
  delete from :SCHEMA.queue_version v
   using locked l
   where v.queue_name = l.queue_name and v.version = l.version and v.schema_hash = l.schema_hash;
  get diagnostics gone = row_count;
  return gone;
end $$;

--! split: 540-prune.sql
-- prune: delete dead letters past their queue's retention, nodes that ended a week ago, and versions that nothing needs any
-- more. The count of rows deleted.
--   max_rows  bound of one call, of each kind
-- Within a queue dead_id grows with died_at, so only the head of each queue is looked at.
-- Locks: the rows, SKIP LOCKED. Index: dead_message_batch_queue.
create or replace function :SCHEMA.prune(max_rows int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  letters int;
  nodes int;
begin
  with recursive named as (                                -- one index descent per queue, however many letters it has
    (select d.queue_name from :SCHEMA.dead_message_batch d order by d.queue_name limit 1)
    union all
    select (select d.queue_name from :SCHEMA.dead_message_batch d where d.queue_name > n.queue_name
             order by d.queue_name limit 1)
      from named n where n.queue_name is not null
  ), aged as materialized (
    select n.queue_name, clock_timestamp() - coalesce(r.retention_ms, 1209600000) * interval '1 millisecond' as before
      from named n
      left join :SCHEMA.queue r on r.queue_name = n.queue_name
     where n.queue_name is not null
  ), old as materialized (
    select d.dead_id
      from aged a
     cross join lateral (                                  -- nothing more is read where the oldest letter is kept
       select from (select d.died_at from :SCHEMA.dead_message_batch d
                     where d.queue_name = a.queue_name order by d.dead_id limit 1) head
        where head.died_at < a.before) head
     cross join lateral (
       select d.dead_id, d.died_at from :SCHEMA.dead_message_batch d
        where d.queue_name = a.queue_name order by d.dead_id limit max_rows) d
     where d.died_at < a.before
     limit max_rows
  ), locked as materialized (
    select d.dead_id
      from old o
      join :SCHEMA.dead_message_batch d on d.dead_id = o.dead_id
     order by d.dead_id
       for update of d skip locked
  )
  delete from :SCHEMA.dead_message_batch d using locked l where d.dead_id = l.dead_id;
  get diagnostics letters = row_count;
  with old as materialized (
    select n.owner
      from :SCHEMA.node n
     where coalesce(n.stopped_at, n.started_at) < clock_timestamp() - interval '7 days'
       -- Who has batches in flight is still needed: by this row recovery knows that the owner once had a session.
       and n.owner <> all (array(select b.owner from :SCHEMA.queue_message_batch b where b.status = 'processing'))
       and not :SCHEMA.is_alive(n.owner)
     order by n.owner
     limit max_rows
       for update skip locked
  )
  delete from :SCHEMA.node n using old o where n.owner = o.owner;
  get diagnostics nodes = row_count;
  return letters + nodes + :SCHEMA.prune_versions();
end $$;

--! split: 541-repair_slots.sql
-- repair_slots: free the slots whose batch is no longer in flight (somebody deleted it by hand); the queues they belong to.
-- Compares with the batch_id it saw, not with "any": a slot taken meanwhile is left alone.
-- Locks: the slot rows, SKIP LOCKED.
create or replace function :SCHEMA.repair_slots() returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return query
  with lost as materialized (
    select s.queue_name, s.slot, s.batch_id
      from :SCHEMA.queue_slot s
     where s.batch_id is not null
       and not exists (select from :SCHEMA.queue_message_batch b
                        where b.queue_name = s.queue_name and b.id = s.batch_id and b.status = 'processing')
  ), locked as materialized (                              -- a second look: the lock gives the row as it has become meanwhile
    select s.queue_name, s.slot
      from lost l
      join :SCHEMA.queue_slot s on s.queue_name = l.queue_name and s.slot = l.slot
     where s.batch_id = l.batch_id
       for no key update of s skip locked
  )
  update :SCHEMA.queue_slot s set batch_id = null
    from locked l
   where s.queue_name = l.queue_name and s.slot = l.slot
  returning s.queue_name;
end $$;

--! split: 542-repair_lines.sql
-- repair_lines: pass on the lines whose head is gone (somebody deleted it by hand); the queues they belong to.
-- A line is looked at first and locked second, by the head it had then: what has changed hands meanwhile is left alone.
-- Locks: the lines, SKIP LOCKED.
create or replace function :SCHEMA.repair_lines() returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return query
  with lost as materialized (
    select l.queue_name, l.order_key, l.head_id
      from :SCHEMA.queue_line l
     where not exists (select from :SCHEMA.queue_message_batch b where b.queue_name = l.queue_name and b.id = l.head_id)
  ), locked as materialized (
    select l.queue_name, l.order_key
      from lost t
      join :SCHEMA.queue_line l on l.queue_name = t.queue_name and l.order_key = t.order_key
     where l.head_id is not distinct from t.head_id
     order by l.queue_name, l.order_key
       for no key update of l skip locked
  )
  update :SCHEMA.queue_line l set head_id = null
    from locked t
   where l.queue_name = t.queue_name and l.order_key = t.order_key
  returning l.queue_name;
  if found then
    perform :SCHEMA.pass_on();
  end if;
end $$;

--! split: 543-regain_keys.sql
-- regain_keys: batches that wait again take back the key that they gave up with their claim; one whose key has been taken
-- meanwhile runs without it from now on (J9). Private to what moves batches back, in the transaction that does.
--   queues, ids  the batches; those that have no key to regain are passed over
-- Each in a subtransaction, for the index refuses and an error must not undo the others. It waits for nobody: a key that
-- another transaction is just about to take counts as taken.
create or replace function :SCHEMA.regain_keys(queues text[], ids bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set lock_timeout = '10ms'
as $$
declare
  r record;
begin
  for r in
    select b.queue_name, b.id, coalesce(q.unique_running, false) as running
      from unnest(queues, ids) as a (q, id)
      join :SCHEMA.queue_message_batch b on b.queue_name = a.q and b.id = a.id
      left join :SCHEMA.queue q on q.queue_name = b.queue_name
     where b.unique_key is not null and b.unique_running is null
     order by b.queue_name, b.unique_key, b.id
  loop
    begin
      update :SCHEMA.queue_message_batch b set unique_running = r.running where b.queue_name = r.queue_name and b.id = r.id;
    exception when unique_violation or lock_not_available then
      update :SCHEMA.queue_message_batch b set unique_key = null where b.queue_name = r.queue_name and b.id = r.id;
    end;
  end loop;
end $$;

--! split: 544-recover.sql
-- recover: take back batches whose owner is gone, each by exactly one caller, on any node, with or without the queue's code.
--   orphans   whether to look for dead owners; only a node whose own session has stood long enough may, or the first node
--             back after a server restart would take everybody's work
--   max_rows  bound of one call
-- An ORPHAN has an owner whose session lock nobody holds and a heartbeat older than orphan_after_ms; a STALE batch has a
-- heartbeat older than stale_after_ms, whatever the lock. A crash is counted apart and spends no attempt. At the limit of
-- crashes a single message dies in the same statement; a batch of several never does: whoever claims it divides it.
-- Each crash is noted in last_error with what else its owner held, for the one that dies of the third may be a bystander.
-- Owners are probed before the LIMIT and once each: with the probe per row, eight callers recovered 100 of 500.
-- Locks: the rows in (queue_name, id) order, SKIP LOCKED, then the lines they headed; a row being heartbeat-ed is skipped or re-evaluated and dropped.
create or replace function :SCHEMA.recover(orphans boolean, max_rows int default 100)
returns table (queue_name text, reason text, recovered int, died int)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  gone_owners text[] := '{}';
  queues text[];
  ids bigint[];
  reasons text[];
  deaths int[];
begin
  if orphans then
    with silent as materialized (
      select distinct b.owner
        from :SCHEMA.queue_message_batch b
        left join :SCHEMA.queue r on r.queue_name = b.queue_name
       where b.status = 'processing'
         and b.status_heartbeat < clock_timestamp() - coalesce(r.orphan_after_ms, 8000) * interval '1 millisecond'
    )
    select coalesce(array_agg(s.owner), '{}')
      into gone_owners
      from silent s
     -- An owner that never had a session cannot be told from a dead one: it can only be stale.
     where exists (select from :SCHEMA.node n where n.owner = s.owner and n.session_at is not null)
       and not :SCHEMA.is_alive(s.owner);
  end if;
  with late as materialized (
    select b.queue_name, b.id, b.owner,
           case when b.owner = any (gone_owners) then 'orphan' else 'stale' end as reason,
           b.message_count = 1 and b.crashes + 1 >= coalesce(b.max_attempts, r.max_attempts, 5) as exhausted,
           coalesce(r.dead_letter, true) or b.chain is not null or b.tracked is true as noticed
      from :SCHEMA.queue_message_batch b
      left join :SCHEMA.queue r on r.queue_name = b.queue_name
     where b.status = 'processing'
       and (b.status_heartbeat
              < clock_timestamp() - coalesce(b.stale_after_ms, r.stale_after_ms, 600000) * interval '1 millisecond'
            or (b.owner = any (gone_owners)
                and b.status_heartbeat < clock_timestamp() - coalesce(r.orphan_after_ms, 8000) * interval '1 millisecond'))
     order by b.queue_name, b.id
     limit max_rows
       for update of b skip locked
  ), company as materialized (                             -- what each owner held: ten names are enough to find the culprit
    select o.owner, left((select string_agg(format('%s/%s', c.queue_name, c.id), ', ')
             from (select b.queue_name, b.id from :SCHEMA.queue_message_batch b
                    where b.status = 'processing' and b.owner is not distinct from o.owner
                    order by b.queue_name, b.id limit 11) c), 4000) as names
      from (select distinct l.owner from late l) o
  ), noted as materialized (
    select l.*, format('the node %s was lost while this batch was in flight; with it in flight: %s', l.owner, c.names) as note
      from late l
      join company c on c.owner is not distinct from l.owner
  ), gone as (
    delete from :SCHEMA.queue_message_batch b
     using noted l
     where l.exhausted and b.queue_name = l.queue_name and b.id = l.id
    returning b.*, l.reason as why, l.noticed, l.note
  ), buried as (
    insert into :SCHEMA.dead_message_batch (
      queue_name, batch_id, reason, error, failures, crashes, owner, priority, version, created_at, message_count,
      payload, meta, origin_id, origin_at, positions, max_attempts, stale_after_ms,
      chain, history, tracked, order_key, unique_key)
    select g.queue_name, g.id, 'crash',
           concat_ws(E'\n', format('%s nodes were lost while this batch was in flight; it may be a bystander of another batch''s crash',
                                   g.crashes + 1), g.note, g.last_error),
           g.failures, g.crashes + 1, g.owner, g.priority, g.version, g.created_at, g.message_count,
           g.payload, g.meta, g.origin_id, g.origin_at, g.positions, g.max_attempts, g.stale_after_ms,
           g.chain, g.history, g.tracked, g.order_key, g.unique_key
      from gone g
     where g.noticed
  ), back as (
    update :SCHEMA.queue_message_batch b
       set status = 'pending', crashes = b.crashes + 1, owner = null, claim_token = null, status_heartbeat = null,
           unique_running = nullif(b.unique_running, false),
           last_error = left(concat_ws(E'\n', l.note, b.last_error), 20000)
      from noted l
     where not l.exhausted and b.queue_name = l.queue_name and b.id = l.id
    returning b.queue_name, b.id, l.reason
  ), done as (
    select g.queue_name, g.id, g.order_key, g.why as reason, 1 as dead from gone g
    union all
    select k.queue_name, k.id, null, k.reason, 0 from back k
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from done d where s.queue_name = d.queue_name and s.batch_id = d.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from done d
     where l.queue_name = d.queue_name and l.order_key = d.order_key and l.head_id = d.id
  )
  select array_agg(d.queue_name), array_agg(d.id), array_agg(d.reason), array_agg(d.dead)
    into queues, ids, reasons, deaths
    from done d;
  if ids is null then
    return;
  end if;
  perform :SCHEMA.regain_keys(queues, ids);
  perform :SCHEMA.pass_on();
  return query
  select d.q, d.reason, (count(*) - sum(d.dead))::int, sum(d.dead)::int
    from unnest(queues, reasons, deaths) as d (q, reason, dead)
   group by d.q, d.reason;
end $$;

--! split: 545-promote.sql
-- promote: delayed batches whose time has come become pending; the queues they belong to.
--   max_rows  bound of one call
-- Locks: the rows, SKIP LOCKED, so that promoting nodes pass each other by. Index: queue_message_batch_delayed.
create or replace function :SCHEMA.promote(max_rows int default 1000)
returns table (queue_name text, promoted int)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with due as materialized (
    select b.queue_name, b.id
      from :SCHEMA.queue_message_batch b
     where b.status = 'delayed' and b.available_at <= clock_timestamp()
     order by b.available_at
     limit max_rows
       for update skip locked
  ), moved as (
    update :SCHEMA.queue_message_batch b set status = 'pending', available_at = null
      from due d
     where b.queue_name = d.queue_name and b.id = d.id
    returning b.queue_name
  )
  select m.queue_name, count(*)::int from moved m group by m.queue_name;
end $$;

--! split: 546-poll.sql
-- poll: one round of a node in one round trip: promotion, recovery, then the claim, each with a snapshot of its own.
--   queues … mark_ids, merge_*  as in claim
--   maintain           whether to promote, and to ask for the next due time
--   recovering         whether to take back what is stale
--   orphans            as in recover
--   falling_asleep     steps C2 and C3 of the wake-up protocol: probe PUB before the claim
--   *_refusals         as in keep_refusals
--   pruning            whether to delete what is kept no longer, and to free slots whose batch was deleted by hand
-- Rows as claim's, each with a null report; after them, where there is something to say, one row with a null id and a
-- report: `due` (ms until the next delayed batch of any queue), `publishing` (a publisher is in flight: do not sleep yet),
-- `recovered` (per queue and reason), `resumed` (of the known refusals), `scan` (ms the claim took, when over 2). An idle round
-- has no rows.
create or replace function :SCHEMA.poll(
  queues text[], limits int[], versions int[], node text, max_bytes bigint,
  mark_queues text[], mark_priorities int[], mark_ids bigint[],
  maintain boolean, recovering boolean, orphans boolean, falling_asleep boolean, pruning boolean,
  merge_messages int[] default '{}', merge_bytes bigint[] default '{}',
  fresh_refusals text[] default '{}', known_refusals text[] default '{}')
returns table (
  queue_name text, id bigint, claim_token bigint, failures int, crashes int, priority int, version int, message_count int,
  bytes int, payload text, meta text, created_at timestamptz, origin_id bigint, origin_at timestamptz, positions int[],
  max_attempts int, call int, chain_id text, report jsonb
)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp
as $$
declare
  recoveries jsonb;
  moved text[] := '{}';
  due bigint;
  publishing boolean;
  resumed jsonb;
  claimed_at timestamptz;
  scan numeric;
begin
  -- C2 before anything that reads a snapshot: a due time that is read earlier may be overtaken by a commit in silence.
  if falling_asleep and :SCHEMA.publisher_in_flight(queues) then
    publishing := true;
  end if;
  if pruning then
    perform :SCHEMA.prune();
    moved := array(select :SCHEMA.repair_slots() union select :SCHEMA.repair_lines());
  end if;
  if recovering then
    select jsonb_agg(to_jsonb(r)), moved || coalesce(array_agg(r.queue_name), '{}') into recoveries, moved
      from :SCHEMA.recover(orphans) r;
  end if;
  if maintain then
    moved := moved || array(select p.queue_name from :SCHEMA.promote() p);
    due := :SCHEMA.next_due_ms();
  end if;
  if cardinality(moved) > 0 then
    -- What has just come back has an old id: it lies below the mark.
    select coalesce(array_agg(m.q), '{}'), coalesce(array_agg(m.p), '{}'), coalesce(array_agg(m.id), '{}')
      into mark_queues, mark_priorities, mark_ids
      from unnest(mark_queues, mark_priorities, mark_ids) as m (q, p, id)
     where m.q <> all (moved);
  end if;
  if cardinality(fresh_refusals) + cardinality(known_refusals) > 0 then
    resumed := nullif(to_jsonb(:SCHEMA.keep_refusals(node, fresh_refusals, known_refusals)), '[]');
  end if;
  claimed_at := clock_timestamp();
  return query select c.*, null::jsonb
                 from :SCHEMA.claim(queues, limits, versions, node, max_bytes, mark_queues, mark_priorities, mark_ids,
                                    merge_messages, merge_bytes) c;
  scan := round(extract(epoch from clock_timestamp() - claimed_at) * 1000, 3);
  if cardinality(moved) > 0 then
    -- Other nodes have free slots too, if there is more than this one took.
    moved := array(select distinct q from unnest(moved) q where :SCHEMA.has_pending(q));
    perform :SCHEMA.announce(moved, true);
  end if;
  report := nullif(jsonb_strip_nulls(jsonb_build_object(
    'due', due, 'publishing', publishing, 'recovered', recoveries, 'resumed', resumed,
    'scan', case when scan > 2 then scan end)), '{}');
  if report is not null then
    return next;
  end if;
end $$;

--! split: 547-progress_of_batch.sql
-- progress_of_batch: record how far a batch's owner has come with it. False when the batch is no longer the owner's: then
-- nothing was written (R1, J5).
--   queue, batch_id, token  the fence
--   percent, stage          as in write_progress. Of a chain's step: of that step; what is recorded is the whole chain's
-- The row is locked until the commit, so that nobody recovers it between the look and the write. Only the first call changes
-- it. Commits asynchronously: a crash of the server may cost the last half second of a progress, and no batch.
-- Locks: the row, then the progress row.
create or replace function :SCHEMA.progress_of_batch(
  queue text, batch_id bigint, token bigint, percent double precision, stage text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  mine record;
  part double precision := greatest(0, least(100, percent));
begin
  select b.chain::json as chain, b.tracked into mine
    from :SCHEMA.queue_message_batch b
   where b.queue_name = queue and b.id = batch_id and b.claim_token = token and b.status = 'processing'
     for no key update;
  if not found then
    return false;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  if mine.tracked is null then
    update :SCHEMA.queue_message_batch b set tracked = true where b.queue_name = queue and b.id = batch_id;
  end if;
  if mine.chain is null then
    perform :SCHEMA.write_progress(batch_id::text, part, stage, 'running');
  else
    perform :SCHEMA.write_progress('chain:' || (mine.chain ->> 'id'),
      (100 * ((mine.chain ->> 'step')::int - 1) + part) / (mine.chain ->> 'steps')::int, stage, 'running');
  end if;
  return true;
end $$;

--! split: 548-publish.sql
-- publish: for any SQL client. Stores a JSON array of messages, divided by the queue's bounds; the ids of the batches.
--   queue     its name; it need not be registered
--   messages  JSON array as text
--   delay_ms  not delivered before this long after the insert
--   priority  smaller first
--   headers   a JSON object of strings that goes with every message
-- A message whose unique key is taken is not stored: the id is then that of the batch that holds the key (J9).
-- Messages are not validated against the schema here: the delivering node does, and buries what does not fit.
create or replace function :SCHEMA.publish(
  queue text, messages text, delay_ms bigint default 0, priority int default 100, headers jsonb default null)
returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  r record;
  rule record;
  message text;
  chunk text := '';
  chunked int := 0;
  order_key text;
  chunk_key text;
  unique_key text;
  new_id bigint;
begin
  if coalesce(octet_length(queue), 0) not between 1 and 254 then
    raise invalid_parameter_value using message = format('postrider.publish(…): the name of a queue has 1 to 254 bytes, found %s',
      coalesce(octet_length(queue)::text, 'null'));
  end if;
  if json_typeof(messages::json) is distinct from 'array' then
    raise invalid_parameter_value using message = format('postrider.publish(%L, …): messages must be a JSON array, found %s',
      queue, coalesce(json_typeof(messages::json), 'SQL null')), hint = 'wrap a single message in [ ]';
  end if;
  if jsonb_path_exists(headers, 'strict $ ? (@.type() != "object")') or jsonb_path_exists(headers, '$.* ? (@.type() != "string")') then
    raise invalid_parameter_value using message = format('postrider.publish(%L, …): headers must be an object of strings, found %s',
      queue, left(headers::text, 100));
  end if;
  select 1 as version, 100 as max_messages, 1048576 as max_bytes, null::text[] as unique_by, null::text as order_by,
         false as unique_running, false as unique_replaces
    into r;
  select q.version, least(q.max_batch_messages, q.rate_limit) as max_messages, q.max_batch_bytes as max_bytes, q.unique_by,
         q.order_by, q.unique_running, q.unique_replaces
    into rule from :SCHEMA.queue q where q.queue_name = queue;
  if found then
    r := rule;
  end if;
  for message in select e.value::text from json_array_elements(messages::json) with ordinality as e (value, n) order by n loop
    if octet_length(message) + 2 > r.max_bytes then
      raise program_limit_exceeded using message = format('postrider.publish(%L, …): a message of %s bytes is over the '
        'queue''s max_batch_bytes of %s', queue, octet_length(message), r.max_bytes);
    end if;
    if r.order_by is not null then
      order_key := :SCHEMA.message_key('[' || message || ']', array[r.order_by]);
    end if;
    if r.unique_by is not null then
      unique_key := :SCHEMA.message_key('[' || message || ']', r.unique_by);
    end if;
    if chunked > 0 and (chunked = r.max_messages or octet_length(chunk) + octet_length(message) + 3 > r.max_bytes
                        or order_key is distinct from chunk_key or unique_key is not null) then
      return next :SCHEMA.insert_batch(queue, chunk, chunked, r.version, delay_ms, priority, headers, chunk_key);
      chunk := '';
      chunked := 0;
    end if;
    if unique_key is not null then
      select i.id into new_id
        from :SCHEMA.insert_unique(
               :SCHEMA.next_batch_id(), queue, r.version, priority, 1, '[' || message || ']', '[' || headers::text || ']', null, null,
               case when delay_ms > 0 then clock_timestamp() + delay_ms * interval '1 millisecond' end,
               order_key, unique_key, r.unique_running, r.unique_replaces, true) i;
      return next new_id;
      continue;
    end if;
    chunk := case when chunked = 0 then message else chunk || ',' || message end;
    chunked := chunked + 1;
    chunk_key := order_key;
  end loop;
  if chunked > 0 then
    return next :SCHEMA.insert_batch(queue, chunk, chunked, r.version, delay_ms, priority, headers, chunk_key);
  end if;
end $$;

--! split: 549-purge.sql
-- purge: delete dead letters, oldest first; how many. Parameters as in redrive.
-- Locks: the letters in dead_id order, SKIP LOCKED.
create or replace function :SCHEMA.purge(queue text, dead_ids bigint[], reasons text[], max_rows int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  purged int;
begin
  with chosen as materialized (
    select d.dead_id
      from :SCHEMA.dead_message_batch d
     where d.queue_name = queue
       and (purge.dead_ids is null or d.dead_id = any (purge.dead_ids))
       and (purge.reasons is null or d.reason = any (purge.reasons))
     order by d.dead_id
     limit max_rows
       for update skip locked
  )
  delete from :SCHEMA.dead_message_batch d using chosen c where d.dead_id = c.dead_id;
  get diagnostics purged = row_count;
  return purged;
end $$;

--! split: 550-reopen.sql
-- reopen: a chain that had died goes on; the dead letter's id. Private to redrive.
create or replace function :SCHEMA.reopen(dead_id bigint, chain text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform :SCHEMA.write_progress('chain:' || (chain::json ->> 'id'), null, null, 'running');
  return dead_id;
end $$;

--! split: 551-redrive.sql
-- redrive: put dead letters back with a fresh count, oldest first; the dead_ids of those it put back.
--   queue     its name
--   dead_ids  only these; null: any
--   reasons   only of these; null: any
--   max_rows  at most this many
-- The messages keep their ids, their headers and their first publish time (D13), and this death joins their
-- history. A chain's step keeps the steps that follow it. Wakes in its own transaction.
-- Locks: the letters in dead_id order, SKIP LOCKED: of two callers each letter goes back once. Then PUB.
create or replace function :SCHEMA.redrive(queue text, dead_ids bigint[], reasons text[], max_rows int) returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  put_back bigint[];
  ids bigint[];
begin
  with chosen as materialized (
    select d.dead_id
      from :SCHEMA.dead_message_batch d
     where d.queue_name = queue
       and (redrive.dead_ids is null or d.dead_id = any (redrive.dead_ids))
       and (redrive.reasons is null or d.reason = any (redrive.reasons))
     order by d.dead_id
     limit max_rows
       for update skip locked
  ), risen as (
    delete from :SCHEMA.dead_message_batch d using chosen c where d.dead_id = c.dead_id returning d.*
  ), back as (
    insert into :SCHEMA.queue_message_batch (
      queue_name, priority, version, created_at, message_count, payload, meta, origin_id, origin_at, positions,
      max_attempts, stale_after_ms, order_key, unique_key, last_error, chain, history, tracked, quiet)
    select r.queue_name, r.priority, r.version, clock_timestamp(), r.message_count, r.payload, r.meta,
           coalesce(r.origin_id, r.batch_id), coalesce(r.origin_at, r.created_at), r.positions, r.max_attempts,
           r.stale_after_ms, r.order_key, r.unique_key, r.error, r.chain, :SCHEMA.history_with(r.history, r), r.tracked, true
      from risen r
     order by r.dead_id
    returning id
  )
  select (select array_agg(case when r.chain is null then r.dead_id else :SCHEMA.reopen(r.dead_id, r.chain) end order by r.dead_id)
            from risen r),
         (select array_agg(b.id) from back b)
    into put_back, ids;
  return query select unnest(put_back);
  if found then
    perform :SCHEMA.regain_keys(array_fill(queue, array[cardinality(ids)]), ids);
    perform :SCHEMA.announce(array[queue], true);
  end if;
end $$;

--! split: 552-set_slots.sql
-- set_slots: make a queue have this many slots; 0 = it is not limited. Private to register_queue.
-- Changes nothing where it is so already, which is nearly always: the gate would stop every claim for a moment. Where it
-- does change, every claim under way has ended once the gate is ours, and its batches are seen by the next one, which then
-- waits until they have drained. Bounded at two seconds: whoever waits for the gate makes all claims wait behind it.
-- A slot that is in use is dropped too: its batch goes on, and no other starts before it has ended.
create or replace function :SCHEMA.set_slots(queue text, slots int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
begin
  if slots = (select count(*) from :SCHEMA.queue_slot s where s.queue_name = queue) then
    return;
  end if;
  lock table :SCHEMA.claim_gate in exclusive mode;
  delete from :SCHEMA.queue_slot s where s.queue_name = queue and s.slot >= slots;
  insert into :SCHEMA.queue_slot (queue_name, slot) select queue, n from generate_series(0, slots - 1) n on conflict do nothing;
  update :SCHEMA.queue r set draining = slots > 0 where r.queue_name = queue;
end $$;

--! split: 553-register_queue.sql
-- register_queue: record what a starting node knows of a queue (Q3). Answers what was there before, so that the node can
-- say what differs; `written` is false where a newer version is already recorded.
--   definition  the registry's row as JSON: name, version, schemaHash, schema, settings
--   node        who says so
-- Locks: the version's row, so that it is not pruned meanwhile; the registry's row; claim_gate, strongly, where a slot is made
-- or dropped, until the commit. A caller that registers several queues in one transaction does so in the order of their
-- names, or two of them deadlock.
create or replace function :SCHEMA.register_queue(definition jsonb, node text)
returns table (written boolean, was_version int, was_schema_hash text, was_settings jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  name text := definition ->> 'name';
  s jsonb := definition -> 'settings';
  new_version int := (definition ->> 'version')::int;
begin
  insert into :SCHEMA.queue_version (queue_name, version, schema_hash, schema)
  values (name, new_version, definition ->> 'schemaHash', definition ->> 'schema')
  on conflict on constraint queue_version_pkey do update set registered_at = excluded.registered_at;
  -- Inserted first and filled in second: of two nodes that start at once, one finds the other's row and can compare.
  insert into :SCHEMA.queue (queue_name, version) values (name, new_version) on conflict do nothing;
  if not found then
    -- A row without a schema was made by pausing a queue that nobody had registered.
    select case when r.schema_hash is not null then r.version end, r.schema_hash, r.settings
      into was_version, was_schema_hash, was_settings
      from :SCHEMA.queue r where r.queue_name = name for update;
  end if;
  written := was_version is null or was_version <= new_version;
  if written then
    update :SCHEMA.queue r set
      version = new_version, schema_hash = definition ->> 'schemaHash', schema = definition ->> 'schema', settings = s,
      exclusive = coalesce((s ->> 'exclusive')::boolean, false),
      max_batch_messages = (s ->> 'maxBatchMessages')::int, max_batch_bytes = (s ->> 'maxBatchBytes')::int,
      max_attempts = (s ->> 'maxAttempts')::int, orphan_after_ms = (s ->> 'orphanAfterMs')::bigint,
      stale_after_ms = (s ->> 'staleAfterMs')::bigint, dead_letter = s -> 'deadLetter' is distinct from 'false'::jsonb,
      retention_ms = coalesce((s -> 'deadLetter' ->> 'retentionMs')::bigint, 1209600000),
      unique_by = case when s ? 'unique' then array(select jsonb_array_elements_text(s -> 'unique' -> 'by')) end,
      unique_running = coalesce(s -> 'unique' -> 'whileIn' ? 'processing', false),
      unique_replaces = coalesce(s -> 'unique' ->> 'onConflict' = 'replace', false),
      order_by = s -> 'orderBy' ->> 'by', order_skips = coalesce(s -> 'orderBy' ->> 'onFailure' = 'skip', false),
      max_in_flight = (s ->> 'maxInFlight')::int,
      rate_limit = (s -> 'rate' ->> 'limit')::int, rate_per_ms = (s -> 'rate' ->> 'perMs')::bigint,
      updated_at = clock_timestamp(), updated_by = node
     where r.queue_name = name;
    if s ? 'rate' then
      insert into :SCHEMA.queue_rate (queue_name) values (name) on conflict do nothing;
    end if;
    perform :SCHEMA.set_slots(name, coalesce((s ->> 'maxInFlight')::int, case when (s ->> 'exclusive')::boolean then 1 else 0 end));
  end if;
  return next;
end $$;

--! split: 554-release.sql
-- release: give these batches back unfinished, with no attempt spent. The ids that were still ours.
--   queues, ids, tokens  the fence of each batch
--   delays_ms            0 = claimable at once; otherwise not before that many milliseconds
-- Wakes the sleepers of those queues in the same transaction: the releasing node may be stopping (P14).
-- Locks: the rows in (queue_name, id) order, then the slots they held, then the lines they headed, then PUB.
create or replace function :SCHEMA.release(queues text[], ids bigint[], tokens bigint[], delays_ms bigint[])
returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  known boolean := :SCHEMA.is_due_known((select min(d) from unnest(delays_ms) d));
begin
  return query
  with mine as materialized (
    select b.queue_name, b.id, a.delay_ms, coalesce(r.order_skips, false) as skips
      from unnest(queues, ids, tokens, delays_ms) as a (q, id, token, delay_ms)
      join :SCHEMA.queue_message_batch b on b.queue_name = a.q and b.id = a.id
      left join :SCHEMA.queue r on r.queue_name = a.q
     where b.claim_token = a.token and b.status = 'processing'
     order by b.queue_name, b.id
       for update of b
  ), back as (
    update :SCHEMA.queue_message_batch b
       set status = case when m.delay_ms > 0 then 'delayed' else 'pending' end,
           available_at = case when m.delay_ms > 0 then clock_timestamp() + m.delay_ms * interval '1 millisecond' end,
           owner = null, claim_token = null, status_heartbeat = null, unique_running = nullif(b.unique_running, false)
      from mine m
     where b.queue_name = m.queue_name and b.id = m.id
    returning b.queue_name, b.id, b.order_key, m.skips
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from back k where s.queue_name = k.queue_name and s.batch_id = k.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from back k
     where k.skips and l.queue_name = k.queue_name and l.order_key = k.order_key and l.head_id = k.id
  )
  select k.id from back k;
  if found then
    perform :SCHEMA.regain_keys(queues, ids);
    perform :SCHEMA.pass_on();
    perform :SCHEMA.announce(queues, true, known);
  end if;
end $$;

--! split: 555-remove_waiting.sql
-- remove_waiting: delete batches that wait, pending or delayed, never one in flight; how many.
--   queue     its name
--   batch_id  only this one; null: any, in portions of max_rows
--   unique_key  only the one that holds this key (J9), in place of its id
-- Locks: the rows in id order, SKIP LOCKED, then the lines they headed: what is being claimed at this moment is in flight.
create or replace function :SCHEMA.remove_waiting(
  queue text, batch_id bigint, max_rows int default 1000, unique_key text default null) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  removed int;
begin
  if unique_key is not null then
    select b.id into batch_id
      from :SCHEMA.queue_message_batch b
     where b.queue_name = queue and b.unique_key = remove_waiting.unique_key
       and (b.unique_running or (not b.unique_running and b.status <> 'processing'));
    if not found then
      return 0;
    end if;
  end if;
  with chosen as materialized (
    select b.id
      from :SCHEMA.queue_message_batch b
     where b.queue_name = queue and b.status in ('pending', 'delayed', 'behind')
       and (remove_waiting.batch_id is null or b.id = remove_waiting.batch_id)
     order by b.id
     limit max_rows
       for update skip locked
  ), gone as (
    delete from :SCHEMA.queue_message_batch b using chosen c where b.queue_name = queue and b.id = c.id
    returning b.id, b.order_key
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from gone g
     where l.queue_name = queue and l.order_key = g.order_key and l.head_id = g.id
  )
  select count(*) into removed from gone;
  if removed > 0 then
    perform :SCHEMA.pass_on();
  end if;
  return removed;
end $$;

--! split: 556-retry.sql
-- retry: the handler failed. One failure more; below the limit the batch waits out its back-off, at the limit it dies, if
-- it is a single message. A batch of several is left as it is, in flight: its owner divides it, and each message gets its last
-- attempt alone (D4). SQL that splits payloads would fail whole on one row that is no JSON.
--   queues, ids, tokens  the fence of each batch
--   delays_ms            the wait before the next attempt; 0 = at once
--   errors               the error text to keep, any bytes
-- Answers delayed, dead or divide for each batch that was still ours; a missing one was lost.
-- Announces: when its owner is lost too, others must know when the batch is due (P14).
-- Locks: the rows in (queue_name, id) order, then the slots they held, then the lines they headed, then PUB.
-- In the row and in the dead letters, or in neither.
create or replace function :SCHEMA.retry(queues text[], ids bigint[], tokens bigint[], delays_ms bigint[], errors text[])
returns table (id bigint, outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  known boolean := :SCHEMA.is_due_known((select min(d) from unnest(delays_ms) d));
begin
  return query
  with mine as materialized (
    select b.queue_name, b.id, a.delay_ms, a.error, b.message_count > 1 as several,
           b.failures + 1 >= coalesce(b.max_attempts, r.max_attempts, 5) as exhausted,
           coalesce(r.dead_letter, true) or b.chain is not null or b.tracked is true as noticed,
           coalesce(r.order_skips, false) as skips
      from unnest(queues, ids, tokens, delays_ms, errors) as a (q, id, token, delay_ms, error)
      join :SCHEMA.queue_message_batch b on b.queue_name = a.q and b.id = a.id
      left join :SCHEMA.queue r on r.queue_name = a.q
     where b.claim_token = a.token and b.status = 'processing'
     order by b.queue_name, b.id
       for update of b
  ), gone as (
    delete from :SCHEMA.queue_message_batch b
     using mine m
     where m.exhausted and not m.several and b.queue_name = m.queue_name and b.id = m.id
    returning b.*, m.error as why, m.noticed
  ), buried as (
    insert into :SCHEMA.dead_message_batch (
      queue_name, batch_id, reason, error, failures, crashes, owner, priority, version, created_at, message_count,
      payload, meta, origin_id, origin_at, positions, max_attempts, stale_after_ms,
      chain, history, tracked, order_key, unique_key)
    select g.queue_name, g.id, 'attempts', g.why, g.failures + 1, g.crashes, g.owner, g.priority, g.version, g.created_at,
           g.message_count, g.payload, g.meta, g.origin_id, g.origin_at, g.positions, g.max_attempts, g.stale_after_ms,
           g.chain, g.history, g.tracked, g.order_key, g.unique_key
      from gone g
     where g.noticed
  ), waiting as (
    update :SCHEMA.queue_message_batch b
       set status = case when m.delay_ms > 0 then 'delayed' else 'pending' end,
           available_at = case when m.delay_ms > 0 then clock_timestamp() + m.delay_ms * interval '1 millisecond' end,
           failures = b.failures + 1, owner = null, claim_token = null, status_heartbeat = null, last_error = m.error,
           unique_running = nullif(b.unique_running, false)
      from mine m
     where not m.exhausted and b.queue_name = m.queue_name and b.id = m.id
    returning b.queue_name, b.id, b.order_key, m.skips
  ), done as (
    select g.queue_name, g.id, g.order_key, true as leaves, 'dead' as outcome from gone g
    union all
    select w.queue_name, w.id, w.order_key, w.skips, 'delayed' from waiting w
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from done d where s.queue_name = d.queue_name and s.batch_id = d.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from done d
     where d.leaves and l.queue_name = d.queue_name and l.order_key = d.order_key and l.head_id = d.id
  )
  select d.id, d.outcome from done d
  union all
  select m.id, 'divide' from mine m where m.exhausted and m.several;
  if found then
    perform :SCHEMA.regain_keys(queues, ids);
    perform :SCHEMA.pass_on();
    perform :SCHEMA.announce(queues, true, known);
  end if;
end $$;

--! split: 557-rise.sql
-- rise: give SLEEP back, step C4 of the wake-up protocol. Runs on the LISTEN connection.
create or replace function :SCHEMA.rise(keys int[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int;
begin
  foreach k in array keys loop
    perform pg_advisory_unlock_shared(7302, k);
  end loop;
end $$;

--! split: 558-set_paused.sql
-- set_paused: pause or resume a queue (J7). A row, so that it holds for the next claim on every node, also without LISTEN.
--   queue   its name; it need not be registered
--   paused  what it shall be
-- What is in flight goes on. Resuming wakes, and takes back what nodes refuse by themselves (D6): they learn of it in their next
-- round.
create or replace function :SCHEMA.set_paused(queue text, paused boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if paused then
    insert into :SCHEMA.queue as r (queue_name, paused_at) values (queue, clock_timestamp())
    on conflict (queue_name) do update set paused_at = coalesce(r.paused_at, clock_timestamp());
    return;
  end if;
  update :SCHEMA.queue r set paused_at = null where r.queue_name = queue and r.paused_at is not null;
  update :SCHEMA.node n set refused = array_remove(n.refused, queue) where queue = any (n.refused);
  perform :SCHEMA.announce(array[queue], true);
end $$;

--! split: 559-settle_part.sql
-- settle_part: some messages of one batch leave it, the rest stays in the SAME row, with its id, place, times and headers.
--   queue, batch_id, token                      the fence
--   rest_payload, rest_meta, rest_positions, rest_count  what stays; a null payload: nothing does, the row goes
--   dead_payloads, dead_metas, dead_positions, dead_reasons, dead_errors  per message given up: a JSON array of one,
--                                               its place in the origin, why
--   delay_ms, error                             null: the lease goes on. Otherwise the rest has failed once more and waits
-- What waits is announced, as in retry.
-- Answers kept, delayed or gone; null when the batch was no longer ours, and then nothing was written.
-- Repeated, because nobody answered, it does nothing twice: what has left the batch is not buried again, and what was sent
-- before a later call and carried out after it, which would bring back what left meanwhile, is refused. Places only leave.
create or replace function :SCHEMA.settle_part(
  queue text, batch_id bigint, token bigint,
  rest_payload text, rest_meta text, rest_positions int[], rest_count int,
  dead_payloads text[], dead_metas text[], dead_positions int[], dead_reasons text[], dead_errors text[],
  delay_ms bigint, error text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  known boolean := delay_ms is not null and :SCHEMA.is_due_known(delay_ms);
  answer text;
begin
  with mine as materialized (
    select b.*, coalesce(r.dead_letter, true) or b.chain is not null or b.tracked is true as noticed,
           coalesce(r.order_skips, false) as skips
      from :SCHEMA.queue_message_batch b
      left join :SCHEMA.queue r on r.queue_name = b.queue_name
     where b.queue_name = queue and b.id = settle_part.batch_id and b.claim_token = token and b.status = 'processing'
       and (b.positions is null or rest_payload is null or rest_positions <@ b.positions)
       for update of b
  ), buried as (
    insert into :SCHEMA.dead_message_batch (
      queue_name, batch_id, reason, error, failures, crashes, owner, priority, version, created_at, message_count,
      payload, meta, origin_id, origin_at, positions, max_attempts, stale_after_ms,
      chain, history, tracked, order_key, unique_key)
    select m.queue_name, m.id, d.reason, d.error, m.failures + (d.reason = 'attempts')::int, m.crashes, m.owner, m.priority,
           m.version, m.created_at, 1, d.payload, d.meta, m.origin_id, m.origin_at, array[d.place], m.max_attempts,
           m.stale_after_ms, m.chain, m.history, m.tracked, m.order_key, m.unique_key
      from mine m
     cross join unnest(dead_payloads, dead_metas, dead_positions, dead_reasons, dead_errors)
                  as d (payload, meta, place, reason, error)
     where m.noticed and (m.positions is null or d.place = any (m.positions))
  ), gone as (
    delete from :SCHEMA.queue_message_batch b using mine m
     where rest_payload is null and b.queue_name = m.queue_name and b.id = m.id
    returning b.queue_name, b.id, b.order_key, true as leaves
  ), shrunk as (
    update :SCHEMA.queue_message_batch b
       set payload = rest_payload, meta = rest_meta, positions = rest_positions, message_count = rest_count,
           status_heartbeat = case when delay_ms is null then clock_timestamp() end,
           status = case when delay_ms is null then 'processing' when delay_ms > 0 then 'delayed' else 'pending' end,
           available_at = case when delay_ms > 0 then clock_timestamp() + delay_ms * interval '1 millisecond' end,
           failures = b.failures + (delay_ms is not null)::int,
           owner = case when delay_ms is null then b.owner end,
           claim_token = case when delay_ms is null then b.claim_token end,
           unique_running = case when delay_ms is null then b.unique_running else nullif(b.unique_running, false) end,
           last_error = coalesce(settle_part.error, b.last_error)
      from mine m
     where rest_payload is not null and b.queue_name = m.queue_name and b.id = m.id
    returning b.queue_name, b.id, b.order_key, m.skips as leaves, b.status
  ), ended as (
    select g.queue_name, g.id, g.order_key, g.leaves from gone g
    union all select k.queue_name, k.id, k.order_key, k.leaves from shrunk k where k.status <> 'processing'
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from ended f where s.queue_name = f.queue_name and s.batch_id = f.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from ended f
     where f.leaves and l.queue_name = f.queue_name and l.order_key = f.order_key and l.head_id = f.id
  )
  select 'gone' into answer from gone
  union all
  select case k.status when 'processing' then 'kept' else 'delayed' end from shrunk k;
  if answer = 'delayed' then
    perform :SCHEMA.regain_keys(array[queue], array[settle_part.batch_id]);
    perform :SCHEMA.announce(array[queue], true, known);
  end if;
  if answer <> 'kept' then
    perform :SCHEMA.pass_on();
  end if;
  return answer;
end $$;

--! split: 560-wake_on_insert.sql
-- wake_on_insert: the trigger behind every insert that does not wake by itself.
-- `set local postrider.wake = off` silences it for a two-phase commit, which refuses a transaction that has notified.
create or replace function :SCHEMA.wake_on_insert() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('postrider.wake', true) is distinct from 'off' then
    -- A delayed row carries the mark: sleepers must look, to learn when it is due.
    perform :SCHEMA.announce(array[new.queue_name], new.status = 'delayed');
  end if;
  return null;
end $$;

--! split: 900-triggers.sql
-- The trigger is the rule, the library the exception: psql, another language or a foreign transaction wakes the pollers by
-- inserting; the library's own rows say `quiet` and are followed by one wake() after the commit, which keeps commits
-- parallel (a commit that carries a NOTIFY holds a cluster-wide lock across its flush: 765 a second at 1 ms a flush).
-- A row trigger, because the WHEN of a row trigger can read the row: a statement trigger would need a transition table,
-- which copies every payload, and a setting as its switch, which could outlive the statement. Identical notifications of
-- one transaction collapse, so many rows still make one.
create trigger queue_message_batch_wake
  after insert on :SCHEMA.queue_message_batch
  for each row when (new.quiet is null)
  execute function :SCHEMA.wake_on_insert();

-- Every claim reads the chain's id: one that has none would fail the claims of its queue. A CHECK would be made ready anew by
-- every statement that writes a row, which is 20 of the 60 microseconds of an insert, whether there is a chain or not. Not before
-- updates: though it named that column alone, every update of a row would read it once more, a heartbeat of 100 leases 100 buffers.
create trigger queue_message_batch_chain
  before insert on :SCHEMA.queue_message_batch
  for each row when (new.chain is not null)
  execute function :SCHEMA.check_chain();

-- Every way to die inserts here, so that none can forget the progress. Before, so that what is not to be kept never gets in.
create trigger dead_message_batch_progress
  before insert on :SCHEMA.dead_message_batch
  for each row when (new.chain is not null or new.tracked)
  execute function :SCHEMA.note_death();
