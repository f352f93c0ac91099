-- pass_on: give every line without a head its next one, and forget the lines in which nobody waits (J10).
--   telling  whether to wake the sleepers of the queues in which a line was left as it is
-- The next one is the oldest that waits; what was divided counts from the batch it came from. A delayed batch is the head like
-- any other, and so holds up its line until it is due; with order_skips it is passed over.
-- Its caller has taken the heads away in a statement before: only with a snapshot of its own does this one see what others
-- have put behind meanwhile, for they held the lock of the line. In a transaction with one snapshot for all it therefore leaves
-- the line to the next claim.
-- Locks: the lines in (queue_name, order_key) order, then the next batch of each, all SKIP LOCKED: it waits for nobody. Who promotes
-- or removes that batch may want a line that we hold, or one of who waits for us. Such a line stays without a head, and the
-- next claim of its queue does this again: see line_up. Index: queue_message_batch_line.
create or replace function :SCHEMA.pass_on(telling boolean default true) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  line record;
  next_id bigint;
  next_status text;
  left_in text[] := '{}';
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
    -- Chosen first and locked second: SKIP LOCKED in the choice would give the turn to the one after it.
    select b.id into next_id
      from :SCHEMA.queue_message_batch b
     where b.queue_name = line.queue_name and b.order_key = line.order_key
       and b.status <> 'processing' and (b.status <> 'delayed' or not line.skips)
     order by coalesce(b.origin_id, b.id), b.id
     limit 1;
    if not found then
      delete from :SCHEMA.queue_line l where l.queue_name = line.queue_name and l.order_key = line.order_key;
      continue;
    end if;
    select b.status into next_status
      from :SCHEMA.queue_message_batch b
     where b.queue_name = line.queue_name and b.id = next_id and b.status <> 'processing'
       for update skip locked;
    if not found then
      left_in := left_in || line.queue_name;
      continue;
    end if;
    update :SCHEMA.queue_line l set head_id = next_id where l.queue_name = line.queue_name and l.order_key = line.order_key;
    if next_status = 'behind' then
      update :SCHEMA.queue_message_batch b set status = 'pending' where b.queue_name = line.queue_name and b.id = next_id;
    end if;
  end loop;
  if telling and left_in <> '{}' then
    perform :SCHEMA.announce(left_in, true);
  end if;
end $$;
