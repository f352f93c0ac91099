-- prune: delete dead letters past their queue's retention, nodes that ended a week ago, and versions that nothing needs any
-- more. The count of rows deleted.
--   max_rows  bound of one call, of each kind
-- Within a queue dead_id grows with died_at, so only the head of each queue is looked at.
-- Locks: the rows, SKIP LOCKED. Index: dead_message_batch_queue.
create or replace function :SCHEMA.prune(max_rows int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  letters int;
  nodes int;
begin
  with recursive named as (                                -- one index descent per queue, however many letters it has
    (select d.queue_name from :SCHEMA.dead_message_batch d order by d.queue_name limit 1)
    union all
    select (select d.queue_name from :SCHEMA.dead_message_batch d where d.queue_name > n.queue_name
             order by d.queue_name limit 1)
      from named n where n.queue_name is not null
  ), aged as materialized (
    select n.queue_name, clock_timestamp() - coalesce(r.retention_ms, 1209600000) * interval '1 millisecond' as before
      from named n
      left join :SCHEMA.queue r on r.queue_name = n.queue_name
     where n.queue_name is not null
  ), old as materialized (
    select d.dead_id
      from aged a
     cross join lateral (                                  -- nothing more is read where the oldest letter is kept
       select from (select d.died_at from :SCHEMA.dead_message_batch d
                     where d.queue_name = a.queue_name order by d.dead_id limit 1) head
        where head.died_at < a.before) head
     cross join lateral (
       select d.dead_id, d.died_at from :SCHEMA.dead_message_batch d
        where d.queue_name = a.queue_name order by d.dead_id limit max_rows) d
     where d.died_at < a.before
     limit max_rows
  ), locked as materialized (
    select d.dead_id
      from old o
      join :SCHEMA.dead_message_batch d on d.dead_id = o.dead_id
     order by d.dead_id
       for update of d skip locked
  )
  delete from :SCHEMA.dead_message_batch d using locked l where d.dead_id = l.dead_id;
  get diagnostics letters = row_count;
  with old as materialized (
    select n.owner
      from :SCHEMA.node n
     where coalesce(n.stopped_at, n.started_at) < clock_timestamp() - interval '7 days'
       -- Who has batches in flight is still needed: by this row recovery knows that the owner once had a session.
       and n.owner <> all (array(select b.owner from :SCHEMA.queue_message_batch b where b.status = 'processing'))
       and not :SCHEMA.is_alive(n.owner)
     order by n.owner
     limit max_rows
       for update skip locked
  )
  delete from :SCHEMA.node n using old o where n.owner = o.owner;
  get diagnostics nodes = row_count;
  return letters + nodes + :SCHEMA.prune_versions();
end $$;
