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
