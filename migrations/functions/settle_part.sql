-- settle_part: some messages of one batch leave it, the rest stays in the SAME row, with its id, place, times and headers.
--   queue, batch_id, token                      the fence
--   rest_payload, rest_meta, rest_positions, rest_count  what stays; a null payload: nothing does, the row goes
--   dead_payloads, dead_metas, dead_positions, dead_reasons, dead_errors  per message given up: a JSON array of one,
--                                               its place in the origin, why
--   delay_ms, error                             null: the lease goes on. Otherwise the rest has failed once more and waits
-- What waits is announced, as in retry.
-- Answers kept, delayed or gone; null when the batch was no longer ours, and then nothing was written.
-- Repeated, because nobody answered, it does nothing twice: what has left the batch is not buried again, and what was sent
-- before a later call and carried out after it, which would bring back what left meanwhile, is refused. Places only leave.
create or replace function :SCHEMA.settle_part(
  queue text, batch_id bigint, token bigint,
  rest_payload text, rest_meta text, rest_positions int[], rest_count int,
  dead_payloads text[], dead_metas text[], dead_positions int[], dead_reasons text[], dead_errors text[],
  delay_ms bigint, error text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  known boolean := delay_ms is not null and :SCHEMA.is_due_known(delay_ms);
  answer text;
begin
  with mine as materialized (
    select b.*, coalesce(r.dead_letter, true) or b.chain is not null or b.tracked is true as noticed,
           coalesce(r.order_skips, false) as skips
      from :SCHEMA.queue_message_batch b
      left join :SCHEMA.queue r on r.queue_name = b.queue_name
     where b.queue_name = queue and b.id = settle_part.batch_id and b.claim_token = token and b.status = 'processing'
       and (b.positions is null or rest_payload is null or rest_positions <@ b.positions)
       for update of b
  ), buried as (
    insert into :SCHEMA.dead_message_batch (
      queue_name, batch_id, reason, error, failures, crashes, owner, priority, version, created_at, message_count,
      payload, meta, origin_id, origin_at, positions, max_attempts, stale_after_ms,
      chain, history, tracked, order_key, unique_key)
    select m.queue_name, m.id, d.reason, d.error, m.failures + (d.reason = 'attempts')::int, m.crashes, m.owner, m.priority,
           m.version, m.created_at, 1, d.payload, d.meta, m.origin_id, m.origin_at, array[d.place], m.max_attempts,
           m.stale_after_ms, m.chain, m.history, m.tracked, m.order_key, m.unique_key
      from mine m
     cross join unnest(dead_payloads, dead_metas, dead_positions, dead_reasons, dead_errors)
                  as d (payload, meta, place, reason, error)
     where m.noticed and (m.positions is null or d.place = any (m.positions))
  ), gone as (
    delete from :SCHEMA.queue_message_batch b using mine m
     where rest_payload is null and b.queue_name = m.queue_name and b.id = m.id
    returning b.queue_name, b.id, b.order_key, true as leaves
  ), shrunk as (
    update :SCHEMA.queue_message_batch b
       set payload = rest_payload, meta = rest_meta, positions = rest_positions, message_count = rest_count,
           status_heartbeat = case when delay_ms is null then clock_timestamp() end,
           status = case when delay_ms is null then 'processing' when delay_ms > 0 then 'delayed' else 'pending' end,
           available_at = case when delay_ms > 0 then clock_timestamp() + delay_ms * interval '1 millisecond' end,
           failures = b.failures + (delay_ms is not null)::int,
           owner = case when delay_ms is null then b.owner end,
           claim_token = case when delay_ms is null then b.claim_token end,
           unique_running = case when delay_ms is null then b.unique_running else nullif(b.unique_running, false) end,
           last_error = coalesce(settle_part.error, b.last_error)
      from mine m
     where rest_payload is not null and b.queue_name = m.queue_name and b.id = m.id
    returning b.queue_name, b.id, b.order_key, m.skips as leaves, b.status
  ), ended as (
    select g.queue_name, g.id, g.order_key, g.leaves from gone g
    union all select k.queue_name, k.id, k.order_key, k.leaves from shrunk k where k.status <> 'processing'
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from ended f where s.queue_name = f.queue_name and s.batch_id = f.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from ended f
     where f.leaves and l.queue_name = f.queue_name and l.order_key = f.order_key and l.head_id = f.id
  )
  select 'gone' into answer from gone
  union all
  select case k.status when 'processing' then 'kept' else 'delayed' end from shrunk k;
  if answer = 'delayed' then
    perform :SCHEMA.regain_keys(array[queue], array[settle_part.batch_id]);
    perform :SCHEMA.announce(array[queue], true, known);
  end if;
  if answer <> 'kept' then
    perform :SCHEMA.pass_on();
  end if;
  return answer;
end $$;
