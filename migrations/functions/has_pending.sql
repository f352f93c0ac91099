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
