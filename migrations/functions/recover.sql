-- recover: take back batches whose owner is gone, each by exactly one caller, on any node, with or without the queue's code.
--   orphans   whether to look for dead owners; only a node whose own session has stood long enough may, or the first node
--             back after a server restart would take everybody's work
--   max_rows  bound of one call
-- An ORPHAN has an owner whose session lock nobody holds and a heartbeat older than orphan_after_ms; a STALE batch has a
-- heartbeat older than stale_after_ms, whatever the lock. A crash is counted apart and spends no attempt. At the limit of
-- crashes a single message dies in the same statement; a batch of several never does: whoever claims it divides it.
-- Each crash is noted in last_error with what else its owner held, for the one that dies of the third may be a bystander.
-- Owners are probed before the LIMIT and once each: with the probe per row, eight callers recovered 100 of 500.
-- Locks: the rows in (queue_name, id) order, SKIP LOCKED, then the lines they headed; a row being heartbeat-ed is skipped or re-evaluated and dropped.
create or replace function :SCHEMA.recover(orphans boolean, max_rows int default 100)
returns table (queue_name text, reason text, recovered int, died int)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  gone_owners text[] := '{}';
  queues text[];
  ids bigint[];
  reasons text[];
  deaths int[];
begin
  if orphans then
    with silent as materialized (
      select distinct b.owner
        from :SCHEMA.queue_message_batch b
        left join :SCHEMA.queue r on r.queue_name = b.queue_name
       where b.status = 'processing'
         and b.status_heartbeat < clock_timestamp() - coalesce(r.orphan_after_ms, 8000) * interval '1 millisecond'
    )
    select coalesce(array_agg(s.owner), '{}')
      into gone_owners
      from silent s
     -- An owner that never had a session cannot be told from a dead one: it can only be stale.
     where exists (select from :SCHEMA.node n where n.owner = s.owner and n.session_at is not null)
       and not :SCHEMA.is_alive(s.owner);
  end if;
  with late as materialized (
    select b.queue_name, b.id, b.owner,
           case when b.owner = any (gone_owners) then 'orphan' else 'stale' end as reason,
           b.message_count = 1 and b.crashes + 1 >= coalesce(b.max_attempts, r.max_attempts, 5) as exhausted,
           coalesce(r.dead_letter, true) or b.chain is not null or b.tracked is true as noticed
      from :SCHEMA.queue_message_batch b
      left join :SCHEMA.queue r on r.queue_name = b.queue_name
     where b.status = 'processing'
       and (b.status_heartbeat
              < clock_timestamp() - coalesce(b.stale_after_ms, r.stale_after_ms, 600000) * interval '1 millisecond'
            or (b.owner = any (gone_owners)
                and b.status_heartbeat < clock_timestamp() - coalesce(r.orphan_after_ms, 8000) * interval '1 millisecond'))
     order by b.queue_name, b.id
     limit max_rows
       for update of b skip locked
  ), company as materialized (                             -- what each owner held: ten names are enough to find the culprit
    select o.owner, left((select string_agg(format('%s/%s', c.queue_name, c.id), ', ')
             from (select b.queue_name, b.id from :SCHEMA.queue_message_batch b
                    where b.status = 'processing' and b.owner is not distinct from o.owner
                    order by b.queue_name, b.id limit 11) c), 4000) as names
      from (select distinct l.owner from late l) o
  ), noted as materialized (
    select l.*, format('the node %s was lost while this batch was in flight; with it in flight: %s', l.owner, c.names) as note
      from late l
      join company c on c.owner is not distinct from l.owner
  ), gone as (
    delete from :SCHEMA.queue_message_batch b
     using noted l
     where l.exhausted and b.queue_name = l.queue_name and b.id = l.id
    returning b.*, l.reason as why, l.noticed, l.note
  ), buried as (
    insert into :SCHEMA.dead_message_batch (
      queue_name, batch_id, reason, error, failures, crashes, owner, priority, version, created_at, message_count,
      payload, meta, origin_id, origin_at, positions, max_attempts, stale_after_ms,
      chain, history, tracked, order_key, unique_key)
    select g.queue_name, g.id, 'crash',
           concat_ws(E'\n', format('%s nodes were lost while this batch was in flight; it may be a bystander of another batch''s crash',
                                   g.crashes + 1), g.note, g.last_error),
           g.failures, g.crashes + 1, g.owner, g.priority, g.version, g.created_at, g.message_count,
           g.payload, g.meta, g.origin_id, g.origin_at, g.positions, g.max_attempts, g.stale_after_ms,
           g.chain, g.history, g.tracked, g.order_key, g.unique_key
      from gone g
     where g.noticed
  ), back as (
    update :SCHEMA.queue_message_batch b
       set status = 'pending', crashes = b.crashes + 1, owner = null, claim_token = null, status_heartbeat = null,
           unique_running = nullif(b.unique_running, false),
           last_error = left(concat_ws(E'\n', l.note, b.last_error), 20000)
      from noted l
     where not l.exhausted and b.queue_name = l.queue_name and b.id = l.id
    returning b.queue_name, b.id, l.reason
  ), done as (
    select g.queue_name, g.id, g.order_key, g.why as reason, 1 as dead from gone g
    union all
    select k.queue_name, k.id, null, k.reason, 0 from back k
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from done d where s.queue_name = d.queue_name and s.batch_id = d.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from done d
     where l.queue_name = d.queue_name and l.order_key = d.order_key and l.head_id = d.id
  )
  select array_agg(d.queue_name), array_agg(d.id), array_agg(d.reason), array_agg(d.dead)
    into queues, ids, reasons, deaths
    from done d;
  if ids is null then
    return;
  end if;
  perform :SCHEMA.regain_keys(queues, ids);
  perform :SCHEMA.pass_on();
  return query
  select d.q, d.reason, (count(*) - sum(d.dead))::int, sum(d.dead)::int
    from unnest(queues, reasons, deaths) as d (q, reason, dead)
   group by d.q, d.reason;
end $$;
