-- regain_keys: batches that wait again take back the key that they gave up with their claim; one whose key has been taken
-- meanwhile runs without it from now on (J9). Private to what moves batches back, in the transaction that does.
--   queues, ids  the batches; those that have no key to regain are passed over
-- Each in a subtransaction, for the index refuses and an error must not undo the others. It waits for nobody: a key that
-- another transaction is just about to take counts as taken.
create or replace function :SCHEMA.regain_keys(queues text[], ids bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set lock_timeout = '10ms'
as $$
declare
  r record;
begin
  for r in
    select b.queue_name, b.id, coalesce(q.unique_running, false) as running
      from unnest(queues, ids) as a (q, id)
      join :SCHEMA.queue_message_batch b on b.queue_name = a.q and b.id = a.id
      left join :SCHEMA.queue q on q.queue_name = b.queue_name
     where b.unique_key is not null and b.unique_running is null
     order by b.queue_name, b.unique_key, b.id
  loop
    begin
      update :SCHEMA.queue_message_batch b set unique_running = r.running where b.queue_name = r.queue_name and b.id = r.id;
    exception when unique_violation or lock_not_available then
      update :SCHEMA.queue_message_batch b set unique_key = null where b.queue_name = r.queue_name and b.id = r.id;
    end;
  end loop;
end $$;
