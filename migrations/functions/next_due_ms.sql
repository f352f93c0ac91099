-- next_due_ms: milliseconds until the next delayed batch of any queue is due; null when none waits.
create or replace function :SCHEMA.next_due_ms() returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return (select greatest(0, ceil(extract(epoch from b.available_at - clock_timestamp()) * 1000))::bigint
            from :SCHEMA.queue_message_batch b
           where b.status = 'delayed'
           order by b.available_at
           limit 1);
end $$;
