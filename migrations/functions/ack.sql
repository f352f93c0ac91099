-- ack: these batches are done; they are deleted. The ids that were still ours; a missing one was lost.
--   queues, ids, tokens  the fence of each batch
-- The next step of a chain is stored by the same statement (hand_over): never lost, never twice.
-- Runs with its owner's rights: a role that may only consume must not insert otherwise, nor call hand_over by itself.
-- Locks: the rows in (queue_name, id) order, then the slots they held, then the lines they headed; of a chain's step also PUB of the next one's queue.
create or replace function :SCHEMA.ack(queues text[], ids bigint[], tokens bigint[]) returns setof bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  done bigint[];
  in_line bigint;
begin
  with gone as (
    delete from :SCHEMA.queue_message_batch b
     using (select * from unnest(queues, ids, tokens) as a (q, id, token) order by 1, 2) a
     where b.queue_name = a.q and b.id = a.id and b.claim_token = a.token and b.status = 'processing'
    returning b.queue_name, b.id, b.chain, b.tracked, b.order_key
  ), freed as (
    update :SCHEMA.queue_slot s set batch_id = null from gone g where s.queue_name = g.queue_name and s.batch_id = g.id
  ), left_line as (
    update :SCHEMA.queue_line l set head_id = null
      from gone g
     where l.queue_name = g.queue_name and l.order_key = g.order_key and l.head_id = g.id
  )
  -- What an acknowledgement leaves behind is stored by this very statement. Most leave nothing.
  select array_agg(case when g.chain is null and g.tracked is null then g.id else :SCHEMA.hand_over(g.id, g.chain) end),
         count(g.order_key)
    into done, in_line
    from gone g;
  if in_line > 0 then
    perform :SCHEMA.pass_on();
  end if;
  return query select unnest(done);
end $$;
