-- pick: which pending batches of one queue a claim takes, by priority, then oldest first; they are locked. A part of claim, whose
-- planner settings its plans need.
--   queue, version            as in claim
--   n                         handler calls there is room for
--   share, room               payload bytes this queue may take, and the whole answer; a batch that is the first of the queue may
--                             use all the room, one that is the first of the answer (`first`) any
--   mark_*                    as in claim
--   most_messages, most_bytes what one call holds. Batches that have neither failed nor crashed, and are no chain's step, share a call while they fit;
--                             0: every batch is a call of its own
-- Answers the ids, the call each belongs to (1 to n), their bytes, and whether one was locked and left: others skipped it
-- meanwhile and must look again.
-- Row by row through a cursor, so that no more is locked than is taken, but for one: LIMIT needs to know how many rows fit before
-- their sizes are read, and a FOR loop fetches, and locks, fifty ahead.
create or replace function :SCHEMA.pick(
  queue text, version int, n int, share bigint, room bigint, first boolean,
  mark_queues text[], mark_priorities int[], mark_ids bigint[], most_messages int, most_bytes bigint,
  out ids bigint[], out calls int[], out taken bigint, out left_one boolean)
language plpgsql
as $$
declare
  waiting refcursor;
  b record;
  call int := 0;
  messages bigint;
  bytes bigint;
  open_call boolean := false;
begin
  ids := '{}';
  calls := '{}';
  taken := 0;
  left_one := false;
  if queue <> all (mark_queues) then
    open waiting no scroll for
      select m.id, m.bytes, m.message_count, m.failures = 0 and m.crashes = 0 and m.chain is null as mergeable
        from :SCHEMA.queue_message_batch m
       where m.queue_name = pick.queue and m.status = 'pending' and m.version <= pick.version
       order by m.priority, m.id
         for update skip locked;
  else
    open waiting no scroll for
      select l.*
        from (                                             -- the index in stretches: each marked priority, and what lies between
          select k.p as low, k.p as high, k.id as from_id
            from unnest(mark_queues, mark_priorities::bigint[], mark_ids) k (q, p, id) where k.q = pick.queue
          union all
          select coalesce(lag(k.p) over (order by k.p), -2147483649) + 1, k.p - 1, 0
            from unnest(mark_queues, mark_priorities::bigint[]) k (q, p) where k.q = pick.queue
          union all
          select coalesce(max(k.p), -2147483649) + 1, 2147483647, 0
            from unnest(mark_queues, mark_priorities::bigint[]) k (q, p) where k.q = pick.queue
           order by 1, 2) g
       cross join lateral (
         select m.id, m.bytes, m.message_count, m.failures = 0 and m.crashes = 0 and m.chain is null as mergeable
           from :SCHEMA.queue_message_batch m
          where m.queue_name = pick.queue and m.status = 'pending' and m.version <= pick.version
            and (m.priority, m.id) >= (g.low, g.from_id) and m.priority <= g.high
          order by m.priority, m.id
            for update skip locked) l;
  end if;
  loop
    fetch waiting into b;
    exit when not found;
    left_one := taken + b.bytes > case when ids <> '{}' then share when first then b.bytes else room end;
    exit when left_one;
    if not (open_call and b.mergeable and messages + b.message_count <= most_messages and bytes + b.bytes <= most_bytes) then
      left_one := call = n;
      exit when left_one;
      call := call + 1;
      messages := 0;
      bytes := 0;
      open_call := b.mergeable;
    end if;
    ids := ids || b.id;
    calls := calls || call;
    taken := taken + b.bytes;
    messages := messages + b.message_count;
    bytes := bytes + b.bytes;
    exit when call = n and (messages >= most_messages or not open_call);
  end loop;
  close waiting;
end $$;
