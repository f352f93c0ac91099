-- publisher_in_flight: whether a transaction that publishes to one of these queues is still open, step C2.
-- One expression per probe, as in wake.
create or replace function :SCHEMA.publisher_in_flight(queues text[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int;
begin
  for k in select distinct :SCHEMA.wake_key(q) from unnest(queues) q order by 1 loop
    if (case when pg_try_advisory_lock(7301, k) then not pg_advisory_unlock(7301, k) else true end) then
      return true;
    end if;
  end loop;
  return false;
end $$;
