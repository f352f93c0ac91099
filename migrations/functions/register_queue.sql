-- register_queue: record what a starting node knows of a queue (Q3). Answers what was there before, so that the node can
-- say what differs; `written` is false where a newer version is already recorded.
--   definition  the registry's row as JSON: name, version, schemaHash, schema, settings
--   node        who says so
-- A queue that becomes exclusive gets its slot here; claim() lets what is in flight drain first.
create or replace function :SCHEMA.register_queue(definition jsonb, node text)
returns table (written boolean, was_version int, was_schema_hash text, was_settings jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  s jsonb := definition -> 'settings';
  is_exclusive boolean := (s ->> 'exclusive')::boolean;
  new_version int := (definition ->> 'version')::int;
begin
  insert into :SCHEMA.queue_version (queue_name, version, schema_hash, schema)
  values (definition ->> 'name', new_version, definition ->> 'schemaHash', definition ->> 'schema')
  on conflict do nothing;
  select true, r.version, r.schema_hash, r.settings
    into written, was_version, was_schema_hash, was_settings
    from :SCHEMA.queue r where r.queue_name = definition ->> 'name' for update;
  if was_version > new_version then
    written := false;
    return next;
    return;
  end if;
  insert into :SCHEMA.queue as r (
    queue_name, version, schema_hash, schema, settings, exclusive, max_batch_messages, max_batch_bytes, max_attempts,
    orphan_after_ms, stale_after_ms, dead_letter, retention_ms, updated_by)
  values (
    definition ->> 'name', new_version, definition ->> 'schemaHash', definition ->> 'schema', s, is_exclusive,
    (s ->> 'maxBatchMessages')::int, (s ->> 'maxBatchBytes')::int, (s ->> 'maxAttempts')::int,
    (s ->> 'orphanAfterMs')::bigint, (s ->> 'staleAfterMs')::bigint,
    s -> 'deadLetter' is distinct from 'false'::jsonb, coalesce((s -> 'deadLetter' ->> 'retentionMs')::bigint, 1209600000), node)
  on conflict (queue_name) do update set
    version = excluded.version, schema_hash = excluded.schema_hash, schema = excluded.schema, settings = excluded.settings,
    exclusive = excluded.exclusive, max_batch_messages = excluded.max_batch_messages,
    max_batch_bytes = excluded.max_batch_bytes, max_attempts = excluded.max_attempts,
    orphan_after_ms = excluded.orphan_after_ms, stale_after_ms = excluded.stale_after_ms,
    dead_letter = excluded.dead_letter, retention_ms = excluded.retention_ms,
    updated_at = clock_timestamp(), updated_by = excluded.updated_by
  where r.version <= excluded.version;
  if is_exclusive then
    insert into :SCHEMA.queue_slot (queue_name, slot) values (definition ->> 'name', 0) on conflict do nothing;
  else
    delete from :SCHEMA.queue_slot q where q.queue_name = definition ->> 'name';
  end if;
  written := true;
  return next;
end $$;
