-- unconsumable: waiting batches that are newer than every live node which knows their queue, per queue (D10).
--   max_rows  how far into each queue to count; what lies further is not seen
-- A queue that no live node knows is not counted: its messages wait for a node, not for a version.
create or replace function :SCHEMA.unconsumable(max_rows int default 10000)
returns table (queue_name text, known_version int, batches bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  return query
  with living as materialized (
    select n.versions
      from :SCHEMA.node n
     where n.stopped_at is null and (n.session_at is null or :SCHEMA.is_alive(n.owner))
  ), known as materialized (
    select v.key as q, max(v.value::int) as v from living l cross join lateral jsonb_each_text(l.versions) v group by v.key
  )
  select k.q, k.v, c.n
    from known k
   cross join lateral (
     select count(*) as n
       from (select b.version from :SCHEMA.queue_message_batch b
              where b.queue_name = k.q and b.status = 'pending' order by b.priority, b.id limit max_rows) b
      where b.version > k.v) c
   where c.n > 0;
end $$;
