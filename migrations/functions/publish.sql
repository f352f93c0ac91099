-- publish: for any SQL client. Stores a JSON array of messages, divided by the queue's bounds; the ids of the batches.
--   queue     its name; it need not be registered
--   messages  JSON array as text
--   delay_ms  not delivered before this long after the insert
--   priority  smaller first
--   headers   a JSON object of strings that goes with every message
-- A message whose unique key is taken is not stored: the id is then that of the batch that holds the key (J9).
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
  rule record;
  message text;
  chunk text := '';
  chunked int := 0;
  order_key text;
  chunk_key text;
  unique_key text;
  new_id bigint;
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
  select 1 as version, 100 as max_messages, 1048576 as max_bytes, null::text[] as unique_by, null::text as order_by,
         false as unique_running, false as unique_replaces
    into r;
  select q.version, least(q.max_batch_messages, q.rate_limit) as max_messages, q.max_batch_bytes as max_bytes, q.unique_by,
         q.order_by, q.unique_running, q.unique_replaces
    into rule from :SCHEMA.queue q where q.queue_name = queue;
  if found then
    r := rule;
  end if;
  for message in select e.value::text from json_array_elements(messages::json) with ordinality as e (value, n) order by n loop
    if octet_length(message) + 2 > r.max_bytes then
      raise program_limit_exceeded using message = format('postrider.publish(%L, …): a message of %s bytes is over the '
        'queue''s max_batch_bytes of %s', queue, octet_length(message), r.max_bytes);
    end if;
    if r.order_by is not null then
      order_key := :SCHEMA.message_key('[' || message || ']', array[r.order_by]);
    end if;
    if r.unique_by is not null then
      unique_key := :SCHEMA.message_key('[' || message || ']', r.unique_by);
    end if;
    if chunked > 0 and (chunked = r.max_messages or octet_length(chunk) + octet_length(message) + 3 > r.max_bytes
                        or order_key is distinct from chunk_key or unique_key is not null) then
      return next :SCHEMA.insert_batch(queue, chunk, chunked, r.version, delay_ms, priority, headers, chunk_key);
      chunk := '';
      chunked := 0;
    end if;
    if unique_key is not null then
      select i.id into new_id
        from :SCHEMA.insert_unique(
               :SCHEMA.next_batch_id(), queue, r.version, priority, 1, '[' || message || ']', '[' || headers::text || ']', null, null,
               case when delay_ms > 0 then clock_timestamp() + delay_ms * interval '1 millisecond' end,
               order_key, unique_key, r.unique_running, r.unique_replaces, true) i;
      return next new_id;
      continue;
    end if;
    chunk := case when chunked = 0 then message else chunk || ',' || message end;
    chunked := chunked + 1;
    chunk_key := order_key;
  end loop;
  if chunked > 0 then
    return next :SCHEMA.insert_batch(queue, chunk, chunked, r.version, delay_ms, priority, headers, chunk_key);
  end if;
end $$;
