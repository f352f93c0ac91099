-- poll: one round of a node in one round trip: promotion, recovery, then the claim, each with a snapshot of its own.
--   queues, limits, versions, node  as in claim
--   maintain                        whether to promote, recover and ask for the next due time
--   orphans                         as in recover
--   falling_asleep                  steps C2 and C3 of the wake-up protocol: probe PUB before the claim
-- Rows as claim's, each with a null report; before them, where there is something to say, one row with a null id and a
-- report: `due` (ms until the next delayed batch of any queue), `publishing` (a publisher is in flight: do not sleep yet),
-- `recovered` (per queue and reason). An idle round has no rows.
create or replace function :SCHEMA.poll(
  queues text[], limits int[], versions int[], node text, maintain boolean, orphans boolean, falling_asleep boolean)
returns table (
  queue_name text, id bigint, claim_token bigint, failures int, crashes int, priority int, version int, message_count int,
  payload text, meta text, created_at timestamptz, origin_id bigint, origin_at timestamptz, positions int[],
  max_attempts int, report jsonb
)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp
as $$
declare
  recoveries jsonb;
  moved text[];
  due bigint;
  publishing boolean;
begin
  if maintain then
    select jsonb_agg(to_jsonb(r)), coalesce(array_agg(r.queue_name), '{}') into recoveries, moved
      from :SCHEMA.recover(orphans) r;
    moved := moved || array(select p.queue_name from :SCHEMA.promote() p);
    if cardinality(moved) > 0 then
      perform :SCHEMA.announce(moved, true);               -- other nodes have free slots too
    end if;
    due := :SCHEMA.next_due_ms();
  end if;
  if falling_asleep and :SCHEMA.publisher_in_flight(queues) then
    publishing := true;
  end if;
  report := nullif(jsonb_strip_nulls(
    jsonb_build_object('due', due, 'publishing', publishing, 'recovered', recoveries)), '{}');
  if report is not null then
    return next;
  end if;
  return query select c.*, null::jsonb from :SCHEMA.claim(queues, limits, versions, node) c;
end $$;
