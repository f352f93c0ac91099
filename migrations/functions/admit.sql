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
