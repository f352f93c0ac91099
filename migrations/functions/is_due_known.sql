-- is_due_known: whether a batch waits already that is due before one that waits from now on: then every sleeper has set its
-- timer no later than that, and need not be told of the new one. Asked before the batch is made to wait.
--   after_ms  when the new one is due
-- What is due within 100 ms does not count: it may be promoted, and a sleeper set its next timer, before we commit.
-- Index: queue_message_batch_delayed.
create or replace function :SCHEMA.is_due_known(after_ms bigint) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return after_ms > 100 and exists (
    select from :SCHEMA.queue_message_batch b
     where b.status = 'delayed' and b.available_at > clock_timestamp() + interval '100 milliseconds'
       and b.available_at <= clock_timestamp() + after_ms * interval '1 millisecond');
end $$;
