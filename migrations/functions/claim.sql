-- claim: lease the next batches of these queues, by priority, then oldest first.
--   queues, limits, versions  per queue: its name, free slots of this node, newest message version this node knows
--   node                      the owner to write
-- Locks: picked rows (SKIP LOCKED), slot rows of exclusive queues (SKIP LOCKED). Index: queue_message_batch_pending.
-- Must run at READ COMMITTED. 'pending' must stay a literal, or the partial index cannot be used in a generic plan. The
-- planner settings keep the plan at nested loops over that index whatever the statistics say.
-- Commits asynchronously: a claim lost in a crash of the server is a batch nobody has, still pending. Not so with a slot:
-- a second node would get the same exclusive batch, so those claims are flushed.
create or replace function :SCHEMA.claim(queues text[], limits int[], versions int[], node text)
returns table (
  queue_name text, id bigint, claim_token bigint, failures int, crashes int, priority int, version int, message_count int,
  payload text, meta text, created_at timestamptz, origin_id bigint, origin_at timestamptz, positions int[],
  max_attempts int
)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  slotted boolean := exists (select from :SCHEMA.queue_slot s where s.queue_name = any (queues));
begin
  if not slotted then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  return query
  with want as materialized (
    select w.q, w.n, w.v
      from unnest(queues, limits, versions) as w (q, n, v)
     where not exists (select from :SCHEMA.queue r where r.queue_name = w.q and r.paused_at is not null)
  ), locked as materialized (                              -- free slots, locked by us
    select s.queue_name, s.slot
      from :SCHEMA.queue_slot s
     where s.queue_name = any (queues) and s.batch_id is null
       and not exists (                                    -- a queue that just became exclusive drains first
         select from :SCHEMA.queue_message_batch b where b.queue_name = s.queue_name and b.status = 'processing')
       for no key update skip locked
  ), free as materialized (
    select l.queue_name, l.slot, row_number() over (partition by l.queue_name order by l.slot) as place from locked l
  ), bounded as (
    select w.q, w.n, w.v, false as slotted
      from want w
     where not exists (select from :SCHEMA.queue_slot s where s.queue_name = w.q)
    union all
    select w.q, least(w.n, (select count(*)::int from free f where f.queue_name = w.q)), w.v, true
      from want w
     where exists (select from :SCHEMA.queue_slot s where s.queue_name = w.q)
  ), pick as materialized (
    select w.q, b.id, w.slotted
      from bounded w
     cross join lateral (
       select b.id
         from :SCHEMA.queue_message_batch b
        where b.queue_name = w.q and b.status = 'pending' and b.version <= w.v
        order by b.priority, b.id
        limit w.n
          for update skip locked) b
     where w.n > 0
  ), placed as (
    select p.q, p.id, row_number() over (partition by p.q order by p.id) as place from pick p where p.slotted
  ), taken as (                                            -- compare-and-set: a racing claim is re-evaluated and loses
    update :SCHEMA.queue_slot s set batch_id = p.id
      from placed p join free f on f.queue_name = p.q and f.place = p.place
     where s.queue_name = p.q and s.slot = f.slot and s.batch_id is null
    returning s.queue_name, s.batch_id
  ), go as materialized (
    select p.q, p.id from pick p where not p.slotted
    union all
    select t.queue_name, t.batch_id from taken t
  )
  update :SCHEMA.queue_message_batch b
     set status = 'processing', owner = node, status_heartbeat = clock_timestamp(), available_at = null,
         claim_token = floor(random() * 9007199254740991)::bigint
    from go
   where b.queue_name = go.q and b.id = go.id              -- by key, never by ctid: the row may have moved since the snapshot
  returning b.queue_name, b.id, b.claim_token, b.failures, b.crashes, b.priority, b.version, b.message_count,
            b.payload, b.meta, b.created_at, b.origin_id, b.origin_at, b.positions,
            coalesce(b.max_attempts, (select r.max_attempts from :SCHEMA.queue r where r.queue_name = b.queue_name), 5);
end $$;
