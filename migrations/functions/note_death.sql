-- note_death: the progress of what has just died has failed. The trigger behind every way to die. Of a queue without dead
-- letters only what has a progress comes here, and is dropped.
create or replace function :SCHEMA.note_death() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform :SCHEMA.write_progress(coalesce('chain:' || (new.chain::json ->> 'id'), new.batch_id::text), null, null, 'failed');
  if exists (select from :SCHEMA.queue r where r.queue_name = new.queue_name and not r.dead_letter) then
    return null;
  end if;
  return new;
end $$;
