-- rise: give SLEEP back, step C4 of the wake-up protocol. Runs on the LISTEN connection.
create or replace function :SCHEMA.rise(keys int[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int;
begin
  foreach k in array keys loop
    perform pg_advisory_unlock_shared(7302, k);
  end loop;
end $$;
