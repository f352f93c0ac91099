-- claim: lease the next batches of these queues, by priority, then oldest first.
--   queues, limits, versions  per queue: its name, free slots of this node, newest message version this node knows
--   node                      the owner to write
--   max_bytes                 payload bytes of one answer; the first batch comes whatever its size
--   mark_queues, mark_priorities, mark_ids  low-water marks: batches of that queue and priority with a smaller id are not
--                             looked for. Behind a long snapshot the head of the index is dead entries that nothing can
--                             remove, and every claim would read them all (100,000 of them: 15 ms instead of 0.1 ms)
-- Locks: claim_gate (weakly), free slot rows (SKIP LOCKED), picked rows (SKIP LOCKED). It waits for nobody, apart from a
-- registration that makes or drops a slot. Index: queue_message_batch_pending.
-- Must run at READ COMMITTED. 'pending' must stay a literal, or the partial index cannot be used in a generic plan. The
-- planner settings keep the plan at nested loops over that index whatever the statistics say.
-- Commits asynchronously: a claim lost in a crash of the server is a batch nobody has, still pending. Not so with a slot:
-- a second node would get the same exclusive batch, so a claim that took one is flushed.
create or replace function :SCHEMA.claim(
  queues text[], limits int[], versions int[], node text, max_bytes bigint default 67108864,
  mark_queues text[] default '{}', mark_priorities int[] default '{}', mark_ids bigint[] default '{}')
returns table (
  queue_name text, id bigint, claim_token bigint, failures int, crashes int, priority int, version int, message_count int,
  bytes int, payload text, meta text, created_at timestamptz, origin_id bigint, origin_at timestamptz, positions int[],
  max_attempts int
)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  flushed text := current_setting('synchronous_commit');
begin
  lock table :SCHEMA.claim_gate in row share mode;
  perform set_config('synchronous_commit', 'off', true);
  return query
  with want as materialized (
    select w.q, w.n, w.v, coalesce(r.max_attempts, 5) as attempts
      from unnest(queues, limits, versions) as w (q, n, v)
      left join :SCHEMA.queue r on r.queue_name = w.q
     where r.paused_at is null
  ), slot as materialized (
    select s.queue_name, s.slot from :SCHEMA.queue_slot s where s.queue_name = any (queues)
  ), locked as materialized (                              -- free slots, locked by us
    select s.queue_name, s.slot
      from :SCHEMA.queue_slot s
     where s.queue_name = any (queues) and s.batch_id is null
       and not exists (                                    -- what was in flight when the slot was made drains first
         select from :SCHEMA.queue_message_batch b
          where b.queue_name = s.queue_name and b.status = 'processing'
            and not exists (select from :SCHEMA.queue_slot o where o.queue_name = b.queue_name and o.batch_id = b.id))
       for no key update skip locked
  ), free as materialized (
    select l.queue_name, l.slot, row_number() over (partition by l.queue_name order by l.slot) as place from locked l
  ), room as materialized (
    select s.queue_name, (select count(*)::int from free f where f.queue_name = s.queue_name) as slots
      from slot s
     group by s.queue_name
  ), mark as materialized (
    select m.q, m.p, m.id from unnest(mark_queues, mark_priorities::bigint[], mark_ids) as m (q, p, id)
  ), bounded as materialized (
    select w.q, w.v, w.attempts, r.queue_name is not null as slotted,
           case when r.queue_name is null then w.n else least(w.n, r.slots) end as n
      from want w
      left join room r on r.queue_name = w.q
  ), pick as materialized (
    select w.q, w.slotted, w.attempts, b.id, b.bytes, row_number() over (partition by w.q order by b.priority, b.id) as place
      from bounded w
     cross join lateral (
       select b.id, b.bytes, b.priority
         from (                                            -- the index in stretches: each marked priority, and what lies between
           select m.p as low, m.p as high, m.id as from_id from mark m where m.q = w.q
           union all
           select coalesce(lag(m.p) over (order by m.p), -2147483649) + 1, m.p - 1, 0 from mark m where m.q = w.q
           union all
           select coalesce(max(m.p), -2147483649) + 1, 2147483647, 0 from mark m where m.q = w.q
            order by 1, 2) g
        cross join lateral (
          select b.id, b.bytes, b.priority
            from :SCHEMA.queue_message_batch b
           where b.queue_name = w.q and b.status = 'pending' and b.version <= w.v
             and (b.priority, b.id) >= (g.low, g.from_id) and b.priority <= g.high
           order by b.priority, b.id
           limit w.n
             for update skip locked) b
        limit w.n) b
     where w.n > 0
  ), fit as materialized (                                 -- what is over the bound stays pending
    select p.*
      from (select p.*, sum(p.bytes) over (order by p.place, p.q rows unbounded preceding) as so_far from pick p) p
     where p.so_far <= max_bytes or p.so_far = p.bytes
  ), taken as (                                            -- compare-and-set: a racing claim is re-evaluated and loses
    update :SCHEMA.queue_slot s set batch_id = p.id
      from fit p
      join free f on f.queue_name = p.q and f.place = p.place
     where p.slotted and s.queue_name = p.q and s.slot = f.slot and s.batch_id is null
    returning s.queue_name, s.batch_id, p.attempts
  ), go as materialized (
    select p.q, p.id, p.attempts from fit p where not p.slotted
    union all
    select t.queue_name, t.batch_id, t.attempts from taken t
  )
  update :SCHEMA.queue_message_batch b
     set status = 'processing', owner = node, status_heartbeat = clock_timestamp(), available_at = null,
         claim_token = floor(random() * 9007199254740991)::bigint
    from go
   where b.queue_name = go.q and b.id = go.id              -- by key, never by ctid: the row may have moved since the snapshot
  returning b.queue_name, b.id, b.claim_token, b.failures, b.crashes, b.priority, b.version, b.message_count,
            b.bytes, b.payload, b.meta, b.created_at, b.origin_id, b.origin_at, b.positions,
            coalesce(b.max_attempts, go.attempts);
  if found and exists (
    select from :SCHEMA.queue_slot s
      join :SCHEMA.queue_message_batch b on b.queue_name = s.queue_name and b.id = s.batch_id
     where s.queue_name = any (queues) and b.owner = node)
  then
    perform set_config('synchronous_commit', flushed, true);
  end if;
end $$;
