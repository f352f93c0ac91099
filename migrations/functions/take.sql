-- take: lease the batches that admit() has chosen. Columns as claim's; each is a call of its own (D1).
create or replace function :SCHEMA.take(queue text, ids bigint[], node text)
returns table (
  queue_name text, id bigint, claim_token bigint, failures int, crashes int, priority int, version int, message_count int,
  bytes int, payload text, meta text, created_at timestamptz, origin_id bigint, origin_at timestamptz, positions int[],
  max_attempts int, call int, chain_id text
)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  update :SCHEMA.queue_message_batch b
     set status = 'processing', owner = node, status_heartbeat = clock_timestamp(), available_at = null,
         claim_token = floor(random() * 9007199254740991)::bigint
    from unnest(ids) with ordinality as c (id, call)
    join :SCHEMA.queue r on r.queue_name = take.queue
   where b.queue_name = take.queue and b.id = c.id
  returning b.queue_name, b.id, b.claim_token, b.failures, b.crashes, b.priority, b.version, b.message_count,
            b.bytes, b.payload, b.meta, b.created_at, b.origin_id, b.origin_at, b.positions,
            coalesce(b.max_attempts, r.max_attempts), c.call::int, b.chain::json ->> 'id';
end $$;
