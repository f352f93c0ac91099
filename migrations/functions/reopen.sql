-- reopen: a chain that had died goes on; the dead letter's id. Private to redrive.
create or replace function :SCHEMA.reopen(dead_id bigint, chain text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform :SCHEMA.write_progress('chain:' || (chain::json ->> 'id'), null, null, 'running');
  return dead_id;
end $$;
