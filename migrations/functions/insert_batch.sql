-- insert_batch: one row for publish(). Private to it.
create or replace function :SCHEMA.insert_batch(
  queue text, chunk text, messages int, version int, delay_ms bigint, priority int, headers jsonb,
  order_key text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  new_id bigint;
begin
  insert into :SCHEMA.queue_message_batch (queue_name, version, priority, message_count, payload, meta, status, available_at, order_key)
  values (queue, version, priority, messages, '[' || chunk || ']',
          '[' || rtrim(repeat(headers::text || ',', messages), ',') || ']',
          case when delay_ms > 0 then 'delayed' else 'pending' end,
          case when delay_ms > 0 then clock_timestamp() + delay_ms * interval '1 millisecond' end,
          insert_batch.order_key)
  returning id into new_id;
  return new_id;
end $$;
