-- insert_one: one pending batch of the library's own; its id.
--   announces  true: PUB and the wake-up are part of the inserting transaction, which saves the lone publisher a round trip;
--              false: the caller wakes after its commit, so that the commits of many stay parallel
-- The usual publish. A routine keeps its plan for the session, where the same INSERT as a statement is planned at every
-- call: 190 instead of 290 microseconds (a bare two-column table: 140). Named statements would do too, but not every
-- pooler has them. No search_path is set here: that alone costs 30 microseconds, and every name below is qualified.
--
-- A procedure, because it commits twice where somebody sleeps. The first is not flushed: the row is there and the sleepers are woken while the
-- disk is still writing (a third of the way to an idle handler: 1.05 instead of 1.53 ms), and the lock that every notifying
-- commit of the cluster queues for is not held across the flush. The second is, and what is flushed is the log up to there: an
-- answer means stored. Who claims in between holds nothing that a crash of the server could contradict: without the row no
-- claim of it is in the log either, and the publish was never answered.
-- setval is the cheapest way to a commit that must be flushed: a transaction without a log record of its own would not be. A
-- logical message does it too, but shows up in the streams of whoever decodes the log.
create or replace procedure :SCHEMA.insert_one(
  queue text, version int, priority int, message_count int, payload text, meta text, announces boolean, inout id bigint default null)
language plpgsql
as $$
#variable_conflict use_column
declare
  k int;
begin
  insert into :SCHEMA.queue_message_batch (queue_name, version, priority, message_count, payload, meta, quiet)
  values (insert_one.queue, insert_one.version, insert_one.priority, insert_one.message_count, insert_one.payload,
          insert_one.meta, true)
  returning id into insert_one.id;
  if announces then
    -- As announce and wake do, for one queue: their calls, loops and pinned search_path took 100 of 360 microseconds.
    k := :SCHEMA.wake_key(queue);
    perform pg_advisory_xact_lock_shared(7301, k);
    if (case when pg_try_advisory_lock(7302, k) then not pg_advisory_unlock(7302, k) else true end) then
      perform pg_notify(:SCHEMA_LITERAL, k::text);
      perform set_config('synchronous_commit', 'off', true);
      commit;
      perform setval(format('%I.flush_point', :SCHEMA_LITERAL)::regclass, 1);
    end if;
  end if;
end $$;
