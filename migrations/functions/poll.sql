-- poll: one round of a node in one round trip: promotion, recovery, then the claim, each with a snapshot of its own.
--   queues … mark_ids, merge_*  as in claim
--   maintain           whether to promote, and to ask for the next due time
--   recovering         whether to take back what is stale
--   orphans            as in recover
--   falling_asleep     steps C2 and C3 of the wake-up protocol: probe PUB before the claim
--   *_refusals         as in keep_refusals
--   pruning            whether to delete what is kept no longer, and to free slots whose batch was deleted by hand
-- Rows as claim's, each with a null report; after them, where there is something to say, one row with a null id and a
-- report: `due` (ms until the next delayed batch of any queue), `publishing` (a publisher is in flight: do not sleep yet),
-- `recovered` (per queue and reason), `resumed` (of the known refusals), `scan` (ms the claim took, when over 2). An idle round
-- has no rows.
create or replace function :SCHEMA.poll(
  queues text[], limits int[], versions int[], node text, max_bytes bigint,
  mark_queues text[], mark_priorities int[], mark_ids bigint[],
  maintain boolean, recovering boolean, orphans boolean, falling_asleep boolean, pruning boolean,
  merge_messages int[] default '{}', merge_bytes bigint[] default '{}',
  fresh_refusals text[] default '{}', known_refusals text[] default '{}')
returns table (
  queue_name text, id bigint, claim_token bigint, failures int, crashes int, priority int, version int, message_count int,
  bytes int, payload text, meta text, created_at timestamptz, origin_id bigint, origin_at timestamptz, positions int[],
  max_attempts int, call int, chain_id text, report jsonb
)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp
as $$
declare
  recoveries jsonb;
  moved text[] := '{}';
  due bigint;
  publishing boolean;
  resumed jsonb;
  claimed_at timestamptz;
  scan numeric;
begin
  -- C2 before anything that reads a snapshot: a due time that is read earlier may be overtaken by a commit in silence.
  if falling_asleep and :SCHEMA.publisher_in_flight(queues) then
    publishing := true;
  end if;
  if pruning then
    perform :SCHEMA.prune();
    moved := array(select :SCHEMA.repair_slots() union select :SCHEMA.repair_lines());
  end if;
  if recovering then
    select jsonb_agg(to_jsonb(r)), moved || coalesce(array_agg(r.queue_name), '{}') into recoveries, moved
      from :SCHEMA.recover(orphans) r;
  end if;
  if maintain then
    moved := moved || array(select p.queue_name from :SCHEMA.promote() p);
    due := :SCHEMA.next_due_ms();
  end if;
  if cardinality(moved) > 0 then
    -- What has just come back has an old id: it lies below the mark.
    select coalesce(array_agg(m.q), '{}'), coalesce(array_agg(m.p), '{}'), coalesce(array_agg(m.id), '{}')
      into mark_queues, mark_priorities, mark_ids
      from unnest(mark_queues, mark_priorities, mark_ids) as m (q, p, id)
     where m.q <> all (moved);
  end if;
  if cardinality(fresh_refusals) + cardinality(known_refusals) > 0 then
    resumed := nullif(to_jsonb(:SCHEMA.keep_refusals(node, fresh_refusals, known_refusals)), '[]');
  end if;
  claimed_at := clock_timestamp();
  return query select c.*, null::jsonb
                 from :SCHEMA.claim(queues, limits, versions, node, max_bytes, mark_queues, mark_priorities, mark_ids,
                                    merge_messages, merge_bytes) c;
  scan := round(extract(epoch from clock_timestamp() - claimed_at) * 1000, 3);
  if cardinality(moved) > 0 then
    -- Other nodes have free slots too, if there is more than this one took.
    moved := array(select distinct q from unnest(moved) q where :SCHEMA.has_pending(q));
    perform :SCHEMA.announce(moved, true);
  end if;
  report := nullif(jsonb_strip_nulls(jsonb_build_object(
    'due', due, 'publishing', publishing, 'recovered', recoveries, 'resumed', resumed,
    'scan', case when scan > 2 then scan end)), '{}');
  if report is not null then
    return next;
  end if;
end $$;
