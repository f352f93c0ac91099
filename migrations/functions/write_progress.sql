-- write_progress: record how far something has come; the last writer wins.
--   progress_key  `chain:<id>`, a batch's id, or any text of 1 to 254 bytes
--   percent       clamped to 0 to 100; null: as it was
--   stage         what it is at; null: as it was
--   state         running, finished or failed
-- Tells those who follow, by a notification `%key` on the schema's channel: no number, so that no poller takes it for a
-- wake-up. Locks: the row.
create or replace function :SCHEMA.write_progress(progress_key text, percent double precision, stage text, state text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into :SCHEMA.progress as p (key, percent, stage, state)
  values (progress_key, greatest(0, least(100, coalesce(write_progress.percent, 0))), write_progress.stage, write_progress.state)
  on conflict on constraint progress_pkey do update
    set percent = case when write_progress.percent is null then p.percent else excluded.percent end,
        stage = coalesce(excluded.stage, p.stage), state = excluded.state, updated_at = clock_timestamp();
  perform pg_notify(:SCHEMA_LITERAL, '%' || progress_key);
end $$;
