-- due_schedules: the schedules that have come, soonest first, and after them the one that comes next: how long until then.
--   max_rows  bound of one answer
-- `now` is this clock: nodes compute occurrences, and never ask their own.
create or replace function :SCHEMA.due_schedules(max_rows int default 100)
returns table (queue_name text, entry text, cron text, time_zone text, catch_up int, next_at timestamptz,
               wait_ms bigint, now timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  read_at timestamptz := clock_timestamp();
begin
  return query
  select s.queue_name, s.entry, s.cron, s.time_zone, s.catch_up, s.next_at,
         greatest(0, ceil(extract(epoch from s.next_at - read_at) * 1000))::bigint, read_at
    from :SCHEMA.schedule s
   where s.next_at <= read_at or s.next_at = (select min(n.next_at) from :SCHEMA.schedule n where n.next_at > read_at)
   order by s.next_at
   limit max_rows;
end $$;
