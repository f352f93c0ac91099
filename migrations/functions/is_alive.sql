-- is_alive: whether a session holds this node's life lock.
-- One expression, as in wake. Two probes that meet fail each other: whoever asks to take work from the dead then takes
-- them for alive, and asks again a round later.
create or replace function :SCHEMA.is_alive(owner text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k int := :SCHEMA.owner_key(owner);
begin
  return case when pg_try_advisory_lock(7303, k) then not pg_advisory_unlock(7303, k) else true end;
end $$;
