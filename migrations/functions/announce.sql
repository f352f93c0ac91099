-- announce: PUB and wake inside the caller's transaction, for rows that become claimable when it commits.
--   queues  names
--   mark    as in wake
--   known   true: sleepers know already when to look, and are not notified (is_due_known)
-- PUB is held shared until after the commit. A poller that falls asleep takes SLEEP first and probes PUB second: it either
-- sees us publishing and keeps looking, or we see it sleeping and notify. No step but its last look reads a snapshot, so
-- this holds at every isolation level.
create or replace function :SCHEMA.announce(queues text[], mark boolean default false, known boolean default false)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int;
begin
  for k in select distinct :SCHEMA.wake_key(q) from unnest(queues) q order by 1 loop
    perform pg_advisory_xact_lock_shared(7301, k);
  end loop;
  if not known then
    perform :SCHEMA.wake(queues, mark);
  end if;
end $$;
