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
