-- purge: delete dead letters, oldest first; how many. Parameters as in redrive.
-- Locks: the letters in dead_id order, SKIP LOCKED.
create or replace function :SCHEMA.purge(queue text, dead_ids bigint[], reasons text[], max_rows int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  purged int;
begin
  with chosen as materialized (
    select d.dead_id
      from :SCHEMA.dead_message_batch d
     where d.queue_name = queue
       and (purge.dead_ids is null or d.dead_id = any (purge.dead_ids))
       and (purge.reasons is null or d.reason = any (purge.reasons))
     order by d.dead_id
     limit max_rows
       for update skip locked
  )
  delete from :SCHEMA.dead_message_batch d using chosen c where d.dead_id = c.dead_id;
  get diagnostics purged = row_count;
  return purged;
end $$;
