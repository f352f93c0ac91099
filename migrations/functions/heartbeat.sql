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
