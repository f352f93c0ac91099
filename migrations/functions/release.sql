-- release: give these batches back unfinished, with no attempt spent. The ids that were still ours.
--   queues, ids, tokens  the fence of each batch
--   delays_ms            0 = claimable at once; otherwise not before that many milliseconds
-- Wakes the sleepers of those queues in the same transaction: the releasing node may be stopping (P14).
-- Locks: the rows in (queue_name, id) order, then the slots they held, then the lines they headed, then PUB.
create or replace function :SCHEMA.release(queues text[], ids bigint[], tokens bigint[], delays_ms bigint[])
returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  known boolean := :SCHEMA.is_due_known((select min(d) from unnest(delays_ms) d));
begin
  return query
  with mine as materialized (
    select b.queue_name, b.id, a.delay_ms, coalesce(r.order_skips, false) as skips
      from unnest(queues, ids, tokens, delays_ms) as a (q, id, token, delay_ms)
      join :SCHEMA.queue_message_batch b on b.queue_name = a.q and b.id = a.id
      left join :SCHEMA.queue r on r.queue_name = a.q
     where b.claim_token = a.token and b.status = 'processing'
     order by b.queue_name, b.id
       for update of b
  ), back as (
    update :SCHEMA.queue_message_batch b
       set status = case when m.delay_ms > 0 then 'delayed' else 'pending' end,
           available_at = case when m.delay_ms > 0 then clock_timestamp() + m.delay_ms * interval '1 millisecond' end,
           owner = null, claim_token = null, status_heartbeat = null, unique_running = nullif(b.unique_running, false)
      from mine m
     where b.queue_name = m.queue_name and b.id = m.id
    returning b.queue_name, b.id, b.order_key, m.skips
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from back k where s.queue_name = k.queue_name and s.batch_id = k.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from back k
     where k.skips and l.queue_name = k.queue_name and l.order_key = k.order_key and l.head_id = k.id
  )
  select k.id from back k;
  if found then
    perform :SCHEMA.regain_keys(queues, ids);
    perform :SCHEMA.pass_on();
    perform :SCHEMA.announce(queues, true, known);
  end if;
end $$;
