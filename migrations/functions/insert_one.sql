-- insert_one: one pending batch of the library's own; its id.
--   announces  true: PUB and the wake-up are part of this transaction, which saves the lone publisher a round trip;
--              false: the caller wakes after its commit, so that the commits of many stay parallel
-- The usual publish. A function keeps its plan for the session, where the same INSERT as a statement is planned at every
-- call: 190 instead of 290 microseconds (a bare two-column table: 140). Named statements would do too, but not every
-- pooler has them. No search_path is set here: that alone costs 30 microseconds, and every name below is qualified.
create or replace function :SCHEMA.insert_one(
  queue text, version int, priority int, message_count int, payload text, meta text, announces boolean) returns bigint
language plpgsql
as $$
declare
  new_id bigint;
  k int;
begin
  insert into :SCHEMA.queue_message_batch (queue_name, version, priority, message_count, payload, meta, quiet)
  values (insert_one.queue, insert_one.version, insert_one.priority, insert_one.message_count, insert_one.payload,
          insert_one.meta, true)
  returning id into new_id;
  if announces then
    -- As announce and wake do, for one queue: their calls, loops and pinned search_path took 100 of 360 microseconds.
    k := :SCHEMA.wake_key(queue);
    perform pg_advisory_xact_lock_shared(7301, k);
    if (case when pg_try_advisory_lock(7302, k) then not pg_advisory_unlock(7302, k) else true end) then
      perform pg_notify(:SCHEMA_LITERAL, k::text);
    end if;
  end if;
  return new_id;
end $$;
