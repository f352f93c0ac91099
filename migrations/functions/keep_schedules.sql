-- keep_schedules: the schedules of a queue, as a starting node knows them. What it does not name is removed, and what it names
-- keeps its place in time. Nothing is changed where a newer version of the queue is recorded (J6, Q3).
--   queue, its_version  the queue, and the version the node knows
--   entries             hash of each entry's cron, time zone and message
--   crons, zones, payloads, catch_ups  as in the table
--   next_ats            each entry's first occurrence from now on, for those that are new; null: none
-- Locks: the registry's row, then the schedules.
create or replace function :SCHEMA.keep_schedules(
  queue text, its_version int, entries text[], crons text[], zones text[], payloads text[], catch_ups int[],
  next_ats timestamptz[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from :SCHEMA.queue r where r.queue_name = queue and r.version > its_version for share;
  if found then
    return;
  end if;
  delete from :SCHEMA.schedule s where s.queue_name = queue and s.entry <> all (entries);
  insert into :SCHEMA.schedule as s (queue_name, entry, cron, time_zone, payload, version, catch_up, next_at)
  select queue, e.entry, e.cron, e.zone, e.payload, its_version, e.catch_up, e.next_at
    from unnest(entries, crons, zones, payloads, catch_ups, next_ats) as e (entry, cron, zone, payload, catch_up, next_at)
   order by e.entry
  on conflict on constraint schedule_pkey do update set catch_up = excluded.catch_up, version = excluded.version
   where (s.catch_up, s.version) is distinct from (excluded.catch_up, excluded.version);
end $$;
