-- divide: replace one batch by batches of one message, each of which then runs alone (D4, R5).
--   queue, batch_id, token   the fence
--   payloads, metas, places  per message that stays: a JSON array of one, its headers likewise, its place in the origin. The
--                            node splits: SQL that did would fail whole on one row that is no JSON
--   last_attempt             true: the batch has failed its last time, and each message has one attempt left.
--                            false: it has crashed; failures and crashes go over as they are
--   delay_ms, error          the wait, and the error text to keep (null: the batch's own)
-- Answers the new ids in order; none when the batch was no longer ours, and then nothing was written. The messages keep the
-- ids they had, by origin_id and positions (D13).
-- They keep their place in line, but no unique key: a batch of several messages has none.
-- Locks: the row, then the slot it held, then the line it headed, then PUB.
-- Runs with its owner's rights: a role that may only consume must not insert otherwise.
create or replace function :SCHEMA.divide(
  queue text, batch_id bigint, token bigint, payloads text[], metas text[], places int[],
  last_attempt boolean, delay_ms bigint, error text)
returns setof bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with gone as (
    delete from :SCHEMA.queue_message_batch b
     where b.queue_name = queue and b.id = divide.batch_id and b.claim_token = token and b.status = 'processing'
    returning b.*
  ), single as (
    insert into :SCHEMA.queue_message_batch (
      queue_name, status, available_at, priority, version, created_at, failures, crashes, message_count, payload, meta,
      origin_id, origin_at, positions, max_attempts, stale_after_ms, order_key, last_error, history, quiet)
    select g.queue_name,
           case when delay_ms > 0 then 'delayed' else 'pending' end,
           case when delay_ms > 0 then clock_timestamp() + delay_ms * interval '1 millisecond' end,
           g.priority, g.version, g.created_at,
           case when last_attempt then coalesce(g.max_attempts, r.max_attempts, 5) - 1 else g.failures end,
           g.crashes, 1, m.payload, m.meta, coalesce(g.origin_id, g.id), coalesce(g.origin_at, g.created_at), array[m.place],
           g.max_attempts, g.stale_after_ms, g.order_key, coalesce(divide.error, g.last_error), g.history, true
      from gone g
      left join :SCHEMA.queue r on r.queue_name = g.queue_name
     cross join unnest(payloads, metas, places) with ordinality as m (payload, meta, place, n)
     order by m.n
    returning id
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from gone g where s.queue_name = g.queue_name and s.batch_id = g.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from gone g
     where l.queue_name = g.queue_name and l.order_key = g.order_key and l.head_id = g.id
  )
  select n.id from single n;
  if found then
    perform :SCHEMA.pass_on();
    perform :SCHEMA.announce(array[queue], true);
  end if;
end $$;
