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
