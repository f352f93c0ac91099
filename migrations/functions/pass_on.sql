-- pass_on: give every line without a head its next one, and forget the lines in which nobody waits (J10).
-- The next one is the oldest that waits; what was divided counts from the batch it came from. A delayed batch is the head like
-- any other, and so holds up its line until it is due; with order_skips it is passed over.
-- Its caller has taken the heads away in a statement before: only with a snapshot of its own does this one see what others
-- have put behind meanwhile, for they held the lock of the line. In a transaction with one snapshot for all it therefore leaves
-- the line to the next claim.
-- Locks: the lines, SKIP LOCKED, in (queue_name, order_key) order; the next batch of each. Index: queue_message_batch_line.
create or replace function :SCHEMA.pass_on() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  line record;
  next record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return;
  end if;
  for line in
    select l.queue_name, l.order_key, coalesce(q.order_skips, false) as skips
      from :SCHEMA.queue_line l
      left join :SCHEMA.queue q on q.queue_name = l.queue_name
     where l.head_id is null
     order by l.queue_name, l.order_key
       for update of l skip locked
  loop
    select b.id, b.status into next
      from :SCHEMA.queue_message_batch b
     where b.queue_name = line.queue_name and b.order_key = line.order_key
       and b.status <> 'processing' and (b.status <> 'delayed' or not line.skips)
     order by coalesce(b.origin_id, b.id), b.id
     limit 1
       for update;
    if not found then
      delete from :SCHEMA.queue_line l where l.queue_name = line.queue_name and l.order_key = line.order_key;
      continue;
    end if;
    update :SCHEMA.queue_line l set head_id = next.id where l.queue_name = line.queue_name and l.order_key = line.order_key;
    if next.status = 'behind' then
      update :SCHEMA.queue_message_batch b set status = 'pending' where b.queue_name = line.queue_name and b.id = next.id;
    end if;
  end loop;
end $$;
