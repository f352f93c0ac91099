-- dead_letter: give these batches up at once, whatever attempts are left. The ids that were still ours.
--   queues, ids, tokens  the fence of each batch
--   reasons              schema, decode or rejected
--   errors               the error text to keep, any bytes
-- Locks: the rows in (queue_name, id) order, then the slots they held, then the lines they headed.
create or replace function :SCHEMA.dead_letter(queues text[], ids bigint[], tokens bigint[], reasons text[], errors text[])
returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  with gone as (
    delete from :SCHEMA.queue_message_batch b
     using (select * from unnest(queues, ids, tokens, reasons, errors) as a (q, id, token, reason, error) order by 1, 2) a
     where b.queue_name = a.q and b.id = a.id and b.claim_token = a.token and b.status = 'processing'
    returning b.*, a.reason, a.error
  ), buried as (
    insert into :SCHEMA.dead_message_batch (
      queue_name, batch_id, reason, error, failures, crashes, owner, priority, version, created_at, message_count,
      payload, meta, origin_id, origin_at, positions, max_attempts, stale_after_ms,
      chain, history, tracked, order_key, unique_key)
    select g.queue_name, g.id, g.reason, g.error, g.failures, g.crashes, g.owner, g.priority, g.version, g.created_at,
           g.message_count, g.payload, g.meta, g.origin_id, g.origin_at, g.positions, g.max_attempts, g.stale_after_ms,
           g.chain, g.history, g.tracked, g.order_key, g.unique_key
      from gone g
     where g.chain is not null or g.tracked
        or not exists (select from :SCHEMA.queue r where r.queue_name = g.queue_name and not r.dead_letter)
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from gone g where s.queue_name = g.queue_name and s.batch_id = g.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from gone g
     where l.queue_name = g.queue_name and l.order_key = g.order_key and l.head_id = g.id
  )
  select g.id from gone g;
  if found then
    perform :SCHEMA.pass_on();
  end if;
end $$;
