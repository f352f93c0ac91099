-- occur: store occurrences of a schedule that have come due. Of any number of callers one does: the one that moves `next_at`.
--   queue, entry_key  the schedule
--   expected          its next_at as the caller saw it; must have come, by this clock
--   following         its next one; null: there is none
--   occurrences       which of those due are stored, oldest first; the others were missed
-- Answers how many were stored; null when somebody else has moved it, or it has not come yet.
-- They stand in the line of their message (J10), but have no unique key: each occurrence is stored.
-- Each is a batch with the header `scheduled-at`. Wakes.
-- Locks: the schedule's row, then PUB.
-- Runs with its owner's rights: a role that may only consume must not insert otherwise.
create or replace function :SCHEMA.occur(
  queue text, entry_key text, expected timestamptz, following timestamptz, occurrences timestamptz[]) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  kept record;
begin
  update :SCHEMA.schedule s
     set next_at = following, last_at = coalesce(occurrences[cardinality(occurrences)], s.last_at)
   where s.queue_name = queue and s.entry = entry_key and s.next_at = expected and s.next_at <= clock_timestamp()
  returning s.payload, s.version into kept;
  if not found then
    return null;
  end if;
  insert into :SCHEMA.queue_message_batch (queue_name, version, payload, meta, order_key, quiet)
  select queue, kept.version, kept.payload,
         json_build_array(json_build_object('scheduled-at', to_char(o.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text,
         (select :SCHEMA.message_key(kept.payload, array[r.order_by])
            from :SCHEMA.queue r where r.queue_name = queue and r.order_by is not null),
         true
    from unnest(occurrences) with ordinality o (at, n)
   order by o.n;
  perform :SCHEMA.announce(array[queue], true);
  return cardinality(occurrences);
end $$;
