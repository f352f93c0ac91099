-- repair_slots: free the slots whose batch is no longer in flight (somebody deleted it by hand); the queues they belong to.
-- Compares with the batch_id it saw, not with "any": a slot taken meanwhile is left alone.
-- Locks: the slot rows, SKIP LOCKED.
create or replace function :SCHEMA.repair_slots() returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return query
  with lost as materialized (
    select s.queue_name, s.slot, s.batch_id
      from :SCHEMA.queue_slot s
     where s.batch_id is not null
       and not exists (select from :SCHEMA.queue_message_batch b
                        where b.queue_name = s.queue_name and b.id = s.batch_id and b.status = 'processing')
  ), locked as materialized (                              -- a second look: the lock gives the row as it has become meanwhile
    select s.queue_name, s.slot
      from lost l
      join :SCHEMA.queue_slot s on s.queue_name = l.queue_name and s.slot = l.slot
     where s.batch_id = l.batch_id
       for no key update of s skip locked
  )
  update :SCHEMA.queue_slot s set batch_id = null
    from locked l
   where s.queue_name = l.queue_name and s.slot = l.slot
  returning s.queue_name;
end $$;
