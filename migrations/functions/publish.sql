-- publish: for any SQL client. Stores a JSON array of messages, divided by the queue's bounds; the ids of the batches.
--   queue     its name; it need not be registered
--   messages  JSON array as text
--   delay_ms  not delivered before this long after the insert
--   priority  smaller first
--   headers   a JSON object of strings that goes with every message
-- Messages are not validated against the schema here: the delivering node does, and buries what does not fit.
create or replace function :SCHEMA.publish(
  queue text, messages text, delay_ms bigint default 0, priority int default 100, headers jsonb default null)
returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  r record;
  message text;
  chunk text := '';
  chunked int := 0;
begin
  if coalesce(octet_length(queue), 0) not between 1 and 254 then
    raise invalid_parameter_value using message = format('postrider.publish(…): the name of a queue has 1 to 254 bytes, found %s',
      coalesce(octet_length(queue)::text, 'null'));
  end if;
  if json_typeof(messages::json) is distinct from 'array' then
    raise invalid_parameter_value using message = format('postrider.publish(%L, …): messages must be a JSON array, found %s',
      queue, coalesce(json_typeof(messages::json), 'SQL null')), hint = 'wrap a single message in [ ]';
  end if;
  if jsonb_path_exists(headers, 'strict $ ? (@.type() != "object")') or jsonb_path_exists(headers, '$.* ? (@.type() != "string")') then
    raise invalid_parameter_value using message = format('postrider.publish(%L, …): headers must be an object of strings, found %s',
      queue, left(headers::text, 100));
  end if;
  select coalesce(max(q.version), 1) as version, coalesce(max(q.max_batch_messages), 100) as max_messages,
         coalesce(max(q.max_batch_bytes), 1048576) as max_bytes
    into r from :SCHEMA.queue q where q.queue_name = queue;
  for message in select e.value::text from json_array_elements(messages::json) with ordinality as e (value, n) order by n loop
    if octet_length(message) + 2 > r.max_bytes then
      raise program_limit_exceeded using message = format('postrider.publish(%L, …): a message of %s bytes is over the '
        'queue''s max_batch_bytes of %s', queue, octet_length(message), r.max_bytes);
    end if;
    if chunked > 0 and (chunked = r.max_messages or octet_length(chunk) + octet_length(message) + 3 > r.max_bytes) then
      return next :SCHEMA.insert_batch(queue, chunk, chunked, r.version, delay_ms, priority, headers);
      chunk := '';
      chunked := 0;
    end if;
    chunk := case when chunked = 0 then message else chunk || ',' || message end;
    chunked := chunked + 1;
  end loop;
  if chunked > 0 then
    return next :SCHEMA.insert_batch(queue, chunk, chunked, r.version, delay_ms, priority, headers);
  end if;
end $$;
