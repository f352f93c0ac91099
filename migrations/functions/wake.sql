-- wake: notify the pollers that sleep on these queues; the count of notifications sent.
--   queues  names; several queues may share one key, which is notified once
--   mark    true for everything but a plain publish (retry, release, recovery …): the payload then ends in "!"
-- The probe takes SLEEP exclusively and lets go at once; failing means somebody sleeps there. It must stay ONE expression:
-- take and release then have no interrupt point between them, so that a cancelled statement cannot leave the session lock
-- behind on a pooled connection.
-- Must not run on the connection that holds SLEEP: a session never conflicts with its own lock.
create or replace function :SCHEMA.wake(queues text[], mark boolean default false) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int;
  sent int := 0;
begin
  for k in select distinct :SCHEMA.wake_key(q) from unnest(queues) q order by 1 loop
    if (case when pg_try_advisory_lock(7302, k) then not pg_advisory_unlock(7302, k) else true end) then
      perform pg_notify(:SCHEMA_LITERAL, case when mark then k || '!' else k::text end);
      sent := sent + 1;
    end if;
  end loop;
  return sent;
end $$;
