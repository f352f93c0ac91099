-- ack: these batches are done; they are deleted. The ids that were still ours; a missing one was lost.
--   queues, ids, tokens  the fence of each batch
-- Locks: the rows in (queue_name, id) order, then the slots they held.
create or replace function :SCHEMA.ack(queues text[], ids bigint[], tokens bigint[]) returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  with gone as (
    delete from :SCHEMA.queue_message_batch b
     using (select * from unnest(queues, ids, tokens) as a (q, id, token) order by 1, 2) a
     where b.queue_name = a.q and b.id = a.id and b.claim_token = a.token and b.status = 'processing'
    returning b.queue_name, b.id
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from gone g where s.queue_name = g.queue_name and s.batch_id = g.id
  )
  select g.id from gone g;
end $$;
