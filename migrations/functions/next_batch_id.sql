-- next_batch_id: an id for insert_unique(), which inserts in another order than the ids'. Private to the library's inserts.
-- Runs with its owner's rights: who may insert is not given the sequence.
create or replace function :SCHEMA.next_batch_id() returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select nextval(pg_get_serial_sequence(format('%I.queue_message_batch', :SCHEMA_LITERAL), 'id'));
$$;
