-- redrive: put dead letters back with a fresh count, oldest first; the dead_ids of those it put back.
--   queue     its name
--   dead_ids  only these; null: any
--   reasons   only of these; null: any
--   max_rows  at most this many
-- The messages keep their ids, their headers and their first publish time (D13), and this death joins their
-- history. A chain's step keeps the steps that follow it. Wakes in its own transaction.
-- Locks: the letters in dead_id order, SKIP LOCKED: of two callers each letter goes back once. Then PUB.
create or replace function :SCHEMA.redrive(queue text, dead_ids bigint[], reasons text[], max_rows int) returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  put_back bigint[];
  ids bigint[];
begin
  with chosen as materialized (
    select d.dead_id
      from :SCHEMA.dead_message_batch d
     where d.queue_name = queue
       and (redrive.dead_ids is null or d.dead_id = any (redrive.dead_ids))
       and (redrive.reasons is null or d.reason = any (redrive.reasons))
     order by d.dead_id
     limit max_rows
       for update skip locked
  ), risen as (
    delete from :SCHEMA.dead_message_batch d using chosen c where d.dead_id = c.dead_id returning d.*
  ), back as (
    insert into :SCHEMA.queue_message_batch (
      queue_name, priority, version, created_at, message_count, payload, meta, origin_id, origin_at, positions,
      max_attempts, stale_after_ms, order_key, unique_key, last_error, chain, history, tracked, quiet)
    select r.queue_name, r.priority, r.version, clock_timestamp(), r.message_count, r.payload, r.meta,
           coalesce(r.origin_id, r.batch_id), coalesce(r.origin_at, r.created_at), r.positions, r.max_attempts,
           r.stale_after_ms, r.order_key, r.unique_key, r.error, r.chain, :SCHEMA.history_with(r.history, r), r.tracked, true
      from risen r
     order by r.dead_id
    returning id
  )
  select (select array_agg(case when r.chain is null then r.dead_id else :SCHEMA.reopen(r.dead_id, r.chain) end order by r.dead_id)
            from risen r),
         (select array_agg(b.id) from back b)
    into put_back, ids;
  return query select unnest(put_back);
  if found then
    perform :SCHEMA.regain_keys(array_fill(queue, array[cardinality(ids)]), ids);
    perform :SCHEMA.announce(array[queue], true);
  end if;
end $$;
