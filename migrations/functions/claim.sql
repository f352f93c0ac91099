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
