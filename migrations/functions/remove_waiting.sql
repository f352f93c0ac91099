-- remove_waiting: delete batches that wait, pending or delayed, never one in flight; how many.
--   queue     its name
--   batch_id  only this one; null: any, in portions of max_rows
--   unique_key  only the one that holds this key (J9), in place of its id
-- Locks: the rows in id order, SKIP LOCKED, then the lines they headed: what is being claimed at this moment is in flight.
create or replace function :SCHEMA.remove_waiting(
  queue text, batch_id bigint, max_rows int default 1000, unique_key text default null) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  removed int;
begin
  if unique_key is not null then
    select b.id into batch_id
      from :SCHEMA.queue_message_batch b
     where b.queue_name = queue and b.unique_key = remove_waiting.unique_key
       and (b.unique_running or (not b.unique_running and b.status <> 'processing'));
    if not found then
      return 0;
    end if;
  end if;
  with chosen as materialized (
    select b.id
      from :SCHEMA.queue_message_batch b
     where b.queue_name = queue and b.status in ('pending', 'delayed', 'behind')
       and (remove_waiting.batch_id is null or b.id = remove_waiting.batch_id)
     order by b.id
     limit max_rows
       for update skip locked
  ), gone as (
    delete from :SCHEMA.queue_message_batch b using chosen c where b.queue_name = queue and b.id = c.id
    returning b.id, b.order_key
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from gone g
     where l.queue_name = queue and l.order_key = g.order_key and l.head_id = g.id
  )
  select count(*) into removed from gone;
  if removed > 0 then
    perform :SCHEMA.pass_on();
  end if;
  return removed;
end $$;
