-- hand_over: what an acknowledged batch leaves behind: the next step of its chain, and the end of its progress. The batch's id.
-- Private to ack, whose statement has just deleted the batch: it is called once for each, or rolled back with it.
--   batch_id  the batch that is gone
--   chain     its chain, or null: JSON with id, step (counted from 1), steps, and rest, the steps that follow, each with
--             queue, version, priority, payload, and where they have any meta, maxAttempts, staleAfterMs and delayMs
-- A step stands in the line of its message (J10), but has no unique key: it would be lost where the key is taken.
-- json and not jsonb, which would refuse \u0000 and change the bytes of what follows.
-- Locks: the progress row, then PUB of the next step's queue.
-- Nobody but ack's owner may call it: it inserts whatever it is told.
create or replace function :SCHEMA.hand_over(batch_id bigint, chain text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c json := chain::json;
  next json := c -> 'rest' -> 0;
  done int := (c ->> 'step')::int;
begin
  if c is null then
    perform :SCHEMA.write_progress(batch_id::text, 100, null, 'finished');
    return batch_id;
  end if;
  if next is null then
    perform :SCHEMA.write_progress('chain:' || (c ->> 'id'), 100, null, 'finished');
    return batch_id;
  end if;
  insert into :SCHEMA.queue_message_batch (
    queue_name, version, priority, payload, meta, max_attempts, stale_after_ms, status, available_at, quiet, order_key, chain)
  select next ->> 'queue', (next ->> 'version')::int, (next ->> 'priority')::int, next ->> 'payload', next ->> 'meta',
         (next ->> 'maxAttempts')::int, (next ->> 'staleAfterMs')::bigint,
         case when d.ms > 0 then 'delayed' else 'pending' end,
         case when d.ms > 0 then clock_timestamp() + d.ms * interval '1 millisecond' end, true,
         (select :SCHEMA.message_key(next ->> 'payload', array[r.order_by])
            from :SCHEMA.queue r where r.queue_name = next ->> 'queue' and r.order_by is not null),
         json_build_object('id', c ->> 'id', 'step', done + 1, 'steps', (c ->> 'steps')::int, 'rest',
           coalesce((select json_agg(r.value order by r.n) from json_array_elements(c -> 'rest') with ordinality r (value, n)
                      where r.n > 1), '[]'::json))::text
    from (select (next ->> 'delayMs')::bigint as ms) d;
  perform :SCHEMA.write_progress('chain:' || (c ->> 'id'), 100.0 * done / (c ->> 'steps')::int, null, 'running');
  perform :SCHEMA.announce(array[next ->> 'queue'], true);
  return batch_id;
end $$;
