-- register_queue: record what a starting node knows of a queue (Q3). Answers what was there before, so that the node can
-- say what differs; `written` is false where a newer version is already recorded.
--   definition  the registry's row as JSON: name, version, schemaHash, schema, settings
--   node        who says so
-- Locks: the version's row, so that it is not pruned meanwhile; the registry's row; claim_gate, strongly, where a slot is made
-- or dropped, until the commit. A caller that registers several queues in one transaction does so in the order of their
-- names, or two of them deadlock.
create or replace function :SCHEMA.register_queue(definition jsonb, node text)
returns table (written boolean, was_version int, was_schema_hash text, was_settings jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  name text := definition ->> 'name';
  s jsonb := definition -> 'settings';
  new_version int := (definition ->> 'version')::int;
begin
  insert into :SCHEMA.queue_version (queue_name, version, schema_hash, schema)
  values (name, new_version, definition ->> 'schemaHash', definition ->> 'schema')
  on conflict on constraint queue_version_pkey do update set registered_at = excluded.registered_at;
  -- Inserted first and filled in second: of two nodes that start at once, one finds the other's row and can compare.
  insert into :SCHEMA.queue (queue_name, version) values (name, new_version) on conflict do nothing;
  if not found then
    -- A row without a schema was made by pausing a queue that nobody had registered.
    select case when r.schema_hash is not null then r.version end, r.schema_hash, r.settings
      into was_version, was_schema_hash, was_settings
      from :SCHEMA.queue r where r.queue_name = name for update;
  end if;
  written := was_version is null or was_version <= new_version;
  if written then
    update :SCHEMA.queue r set
      version = new_version, schema_hash = definition ->> 'schemaHash', schema = definition ->> 'schema', settings = s,
      exclusive = coalesce((s ->> 'exclusive')::boolean, false),
      max_batch_messages = (s ->> 'maxBatchMessages')::int, max_batch_bytes = (s ->> 'maxBatchBytes')::int,
      max_attempts = (s ->> 'maxAttempts')::int, orphan_after_ms = (s ->> 'orphanAfterMs')::bigint,
      stale_after_ms = (s ->> 'staleAfterMs')::bigint, dead_letter = s -> 'deadLetter' is distinct from 'false'::jsonb,
      retention_ms = coalesce((s -> 'deadLetter' ->> 'retentionMs')::bigint, 1209600000),
      unique_by = case when s ? 'unique' then array(select jsonb_array_elements_text(s -> 'unique' -> 'by')) end,
      unique_running = coalesce(s -> 'unique' -> 'whileIn' ? 'processing', false),
      unique_replaces = coalesce(s -> 'unique' ->> 'onConflict' = 'replace', false),
      order_by = s -> 'orderBy' ->> 'by', order_skips = coalesce(s -> 'orderBy' ->> 'onFailure' = 'skip', false),
      max_in_flight = (s ->> 'maxInFlight')::int,
      rate_limit = (s -> 'rate' ->> 'limit')::int, rate_per_ms = (s -> 'rate' ->> 'perMs')::bigint,
      updated_at = clock_timestamp(), updated_by = node
     where r.queue_name = name;
    if s ? 'rate' then
      insert into :SCHEMA.queue_rate (queue_name) values (name) on conflict do nothing;
    end if;
    perform :SCHEMA.set_slots(name, coalesce((s ->> 'maxInFlight')::int, case when (s ->> 'exclusive')::boolean then 1 else 0 end));
  end if;
  return next;
end $$;
