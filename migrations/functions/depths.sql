-- depths: what each queue holds; behind counts as pending. Queues are those registered and those that have batches or dead letters.
--   max_rows  no status of any queue is counted further
-- Delayed batches are counted over the whole table once: their index is led by the time.
create or replace function :SCHEMA.depths(max_rows int default 10001)
returns table (queue_name text, pending bigint, delayed bigint, processing bigint, dead bigint, oldest_at timestamptz, paused boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
begin
  return query
  with recursive stored as (                               -- one index descent per queue, however many rows it has
    (select b.queue_name as q from :SCHEMA.queue_message_batch b order by b.queue_name limit 1)
    union all
    select (select b.queue_name from :SCHEMA.queue_message_batch b where b.queue_name > s.q order by b.queue_name limit 1)
      from stored s where s.q is not null
  ), buried as (
    (select d.queue_name as q from :SCHEMA.dead_message_batch d order by d.queue_name limit 1)
    union all
    select (select d.queue_name from :SCHEMA.dead_message_batch d where d.queue_name > s.q order by d.queue_name limit 1)
      from buried s where s.q is not null
  ), named as (
    select r.queue_name as q from :SCHEMA.queue r
    union select s.q from stored s where s.q is not null
    union select u.q from buried u where u.q is not null
  ), waiting as materialized (
    select d.queue_name as q, count(*) as n
      from (select b.queue_name from :SCHEMA.queue_message_batch b
             where b.status = 'delayed' order by b.available_at limit max_rows) d
     group by d.queue_name
  )
  select n.q,
         (select count(*) from (select from :SCHEMA.queue_message_batch b
                                 where b.queue_name = n.q and b.status = 'pending' limit max_rows) c)
         + (select count(*) from (select from :SCHEMA.queue_message_batch b
                                   where b.queue_name = n.q and b.order_key is not null and b.status <> 'processing'
                                     and b.status = 'behind' limit max_rows) c),
         coalesce((select w.n from waiting w where w.q = n.q), 0),
         (select count(*) from (select from :SCHEMA.queue_message_batch b
                                 where b.queue_name = n.q and b.status = 'processing' limit max_rows) c),
         (select count(*) from (select from :SCHEMA.dead_message_batch d where d.queue_name = n.q limit max_rows) c),
         (select coalesce(b.origin_at, b.created_at) from :SCHEMA.queue_message_batch b
           where b.queue_name = n.q and b.status = 'pending' order by b.priority, b.id limit 1),
         exists (select from :SCHEMA.queue r where r.queue_name = n.q and r.paused_at is not null)
    from named n
   order by n.q;
end $$;
