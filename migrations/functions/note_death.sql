-- note_death: the progress of what has just died has failed. The trigger behind every way to die.
create or replace function :SCHEMA.note_death() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform :SCHEMA.write_progress(coalesce('chain:' || (new.chain::json ->> 'id'), new.batch_id::text), null, null, 'failed');
  return null;
end $$;
