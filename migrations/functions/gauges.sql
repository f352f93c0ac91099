-- gauges: what the metrics show of each queue (M2), in one statement: its depths, the age of its oldest waiting message, and
-- how many waiting batches no live node can consume (D10).
--   max_rows  no status of any queue is counted further; beyond that the count is the planner's estimate, and `estimated`
--             names the status. Never below what was counted.
-- Ages are by the database's clock. Volatile: EXPLAIN is not allowed otherwise.
create or replace function :SCHEMA.gauges(max_rows int default 10000)
returns table (queue_name text, pending bigint, delayed bigint, processing bigint, dead bigint, estimated text[],
               oldest_age_s float8, unconsumable bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  delayed_in_all bigint;
  status text;
  plan json;
  rows bigint;
begin
  for queue_name, pending, delayed, processing, dead, oldest_age_s, unconsumable, delayed_in_all in
    select d.queue_name, d.pending, d.delayed, d.processing, d.dead,
           greatest(0, extract(epoch from statement_timestamp() - d.oldest_at)), coalesce(u.batches, 0),
           sum(d.delayed) over ()
      from :SCHEMA.depths(max_rows + 1) d
      left join :SCHEMA.unconsumable(max_rows) u on u.queue_name = d.queue_name
  loop
    estimated := '{}';
    if dead > max_rows then estimated := estimated || 'dead'::text; end if;
    if pending > max_rows then estimated := estimated || 'pending'::text; end if;
    if processing > max_rows then estimated := estimated || 'processing'::text; end if;
    -- Counted over all queues together, so that each queue's part is short once their sum is.
    if delayed > 0 and delayed_in_all > max_rows then estimated := estimated || 'delayed'::text; end if;
    foreach status in array estimated loop
      execute format('explain (format json) select from %I.%I where queue_name = %L%s',
                     :SCHEMA_LITERAL, case status when 'dead' then 'dead_message_batch' else 'queue_message_batch' end,
                     queue_name, case status when 'dead' then '' else format(' and status = %L', status) end) into plan;
      rows := (plan->0->'Plan'->>'Plan Rows')::bigint;
      case status
        when 'dead' then dead := greatest(dead, rows);
        when 'pending' then pending := greatest(pending, rows);
        when 'processing' then processing := greatest(processing, rows);
        else delayed := greatest(delayed, rows);
      end case;
    end loop;
    return next;
  end loop;
end $$;
