-- fall_asleep: take SLEEP for these queues on this session, step C1 of the wake-up protocol; the keys taken.
-- Runs on the LISTEN connection. Afterwards: probe PUB, then claim with a new snapshot, and only then sleep.
create or replace function :SCHEMA.fall_asleep(queues text[]) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys int[] := array(select distinct :SCHEMA.wake_key(q) from unnest(queues) q order by 1);
  k int;
begin
  foreach k in array keys loop
    perform pg_advisory_lock_shared(7302, k);
  end loop;
  return keys;
end $$;
