-- next_due_ms: milliseconds until the next delayed batch of any queue is due; null when none waits.
-- A batch that is due already but was not promoted is locked by somebody: 50, or every node would spin on it.
create or replace function :SCHEMA.next_due_ms() returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  ms numeric;
begin
  select extract(epoch from b.available_at - clock_timestamp()) * 1000
    into ms
    from :SCHEMA.queue_message_batch b
   where b.status = 'delayed'
   order by b.available_at
   limit 1;
  return case when ms > 0 then ceil(ms)::bigint when ms <= 0 then 50 end;
end $$;
