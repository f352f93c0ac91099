-- retry: the handler failed. One failure more; below the limit the batch waits out its back-off, at the limit it dies, if
-- it is a single message. A batch of several is left as it is, in flight: its owner divides it, and each message gets its last
-- attempt alone (D4). SQL that splits payloads would fail whole on one row that is no JSON.
--   queues, ids, tokens  the fence of each batch
--   delays_ms            the wait before the next attempt; 0 = at once
--   errors               the error text to keep, any bytes
-- Answers delayed, dead or divide for each batch that was still ours; a missing one was lost.
-- Announces: when its owner is lost too, others must know when the batch is due (P14).
-- Locks: the rows in (queue_name, id) order, then the slots they held, then the lines they headed, then PUB.
-- In the row and in the dead letters, or in neither.
create or replace function :SCHEMA.retry(queues text[], ids bigint[], tokens bigint[], delays_ms bigint[], errors text[])
returns table (id bigint, outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  known boolean := :SCHEMA.is_due_known((select min(d) from unnest(delays_ms) d));
begin
  return query
  with mine as materialized (
    select b.queue_name, b.id, a.delay_ms, a.error, b.message_count > 1 as several,
           b.failures + 1 >= coalesce(b.max_attempts, r.max_attempts, 5) as exhausted,
           coalesce(r.dead_letter, true) or b.chain is not null or b.tracked is true as noticed,
           coalesce(r.order_skips, false) as skips
      from unnest(queues, ids, tokens, delays_ms, errors) as a (q, id, token, delay_ms, error)
      join :SCHEMA.queue_message_batch b on b.queue_name = a.q and b.id = a.id
      left join :SCHEMA.queue r on r.queue_name = a.q
     where b.claim_token = a.token and b.status = 'processing'
     order by b.queue_name, b.id
       for update of b
  ), gone as (
    delete from :SCHEMA.queue_message_batch b
     using mine m
     where m.exhausted and not m.several and b.queue_name = m.queue_name and b.id = m.id
    returning b.*, m.error as why, m.noticed
  ), buried as (
    insert into :SCHEMA.dead_message_batch (
      queue_name, batch_id, reason, error, failures, crashes, owner, priority, version, created_at, message_count,
      payload, meta, origin_id, origin_at, positions, max_attempts, stale_after_ms,
      chain, history, tracked, order_key, unique_key)
    select g.queue_name, g.id, 'attempts', g.why, g.failures + 1, g.crashes, g.owner, g.priority, g.version, g.created_at,
           g.message_count, g.payload, g.meta, g.origin_id, g.origin_at, g.positions, g.max_attempts, g.stale_after_ms,
           g.chain, g.history, g.tracked, g.order_key, g.unique_key
      from gone g
     where g.noticed
  ), waiting as (
    update :SCHEMA.queue_message_batch b
       set status = case when m.delay_ms > 0 then 'delayed' else 'pending' end,
           available_at = case when m.delay_ms > 0 then clock_timestamp() + m.delay_ms * interval '1 millisecond' end,
           failures = b.failures + 1, owner = null, claim_token = null, status_heartbeat = null, last_error = m.error,
           unique_running = nullif(b.unique_running, false)
      from mine m
     where not m.exhausted and b.queue_name = m.queue_name and b.id = m.id
    returning b.queue_name, b.id, b.order_key, m.skips
  ), done as (
    select g.queue_name, g.id, g.order_key, true as leaves, 'dead' as outcome from gone g
    union all
    select w.queue_name, w.id, w.order_key, w.skips, 'delayed' from waiting w
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from done d where s.queue_name = d.queue_name and s.batch_id = d.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from done d
     where d.leaves and l.queue_name = d.queue_name and l.order_key = d.order_key and l.head_id = d.id
  )
  select d.id, d.outcome from done d
  union all
  select m.id, 'divide' from mine m where m.exhausted and m.several;
  if found then
    perform :SCHEMA.regain_keys(queues, ids);
    perform :SCHEMA.pass_on();
    perform :SCHEMA.announce(queues, true, known);
  end if;
end $$;
