-- line_up: put the pending batches of a queue with order_by in line, oldest first, until enough are ready to be claimed: a
-- batch without a key, or the head of its line. How many are, at most `enough`. Private to admit.
--   known_version  newer batches are left where they are: they wait for a newer node
--   enough         how many the caller can use
--   headless       a line has no head: its next batch was locked, or a transaction with one snapshot for all took the head. Look
--                  again soon: what waits in it may all be behind, and then nothing else tells that there is work
-- Each batch goes behind once, so a line of any length costs a claim nothing afterwards. At most 2,000 are looked at; who finds
-- fewer ready than there may be answers -1 and looks again.
-- Locks: the lines and the batches, SKIP LOCKED: it waits for nobody. Were it to wait with a line in its hands, it would wait in a
-- circle with who removes the head of that line.
create or replace function :SCHEMA.line_up(queue text, known_version int, enough int, out ready int, out headless boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  portion constant int := greatest(20, least(2 * enough, 200));
  looked int := 0;
  seen int;
  ids bigint[];
  last_priority int := -2147483648;
  last_id bigint := -1;
begin
  ready := 0;
  headless := :SCHEMA.is_headless(queue);
  if headless then
    perform :SCHEMA.pass_on(false);
    headless := :SCHEMA.is_headless(queue);
  end if;
  loop
    select array_agg(c.id order by c.priority, c.id), count(*), (array_agg(c.priority order by c.priority desc, c.id desc))[1]
      into ids, seen, last_priority
      from (select b.id, b.priority
              from :SCHEMA.queue_message_batch b
             where b.queue_name = queue and b.status = 'pending' and b.version <= known_version
               and (b.priority, b.id) > (last_priority, last_id)
             order by b.priority, b.id
             limit portion) c;
    exit when seen = 0;
    last_id := ids[seen];
    if exists (
      select from unnest(ids) as c (id)
        join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
       where b.order_key is not null and b.status = 'pending'
         and not exists (select from :SCHEMA.queue_line l where l.queue_name = b.queue_name and l.order_key = b.order_key))
    then
      -- One claim at a time makes lines in a queue: an insert waits for another of the same key, and two claims that go through
      -- several queues, or portions, wait for each other. Who comes second looks again soon.
      if not pg_try_advisory_xact_lock(7306, hashtext(:SCHEMA_LITERAL || '.' || queue)) then
        ready := -1;
        return;
      end if;
      insert into :SCHEMA.queue_line (queue_name, order_key)
      select distinct b.queue_name, b.order_key
        from unnest(ids) as c (id)
        join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
       where b.order_key is not null and b.status = 'pending'
         and not exists (select from :SCHEMA.queue_line l where l.queue_name = b.queue_name and l.order_key = b.order_key)
       order by 1, 2
      on conflict do nothing;
      if found then
        perform :SCHEMA.pass_on(false);
        headless := headless or :SCHEMA.is_headless(queue);
      end if;
    end if;
    with line as materialized (                            -- locked: whoever takes its head away waits, and then sees who is behind
      select l.order_key, l.head_id
        from :SCHEMA.queue_line l
       where l.queue_name = queue and l.head_id is not null
         and l.order_key in (
           select b.order_key
             from unnest(ids) as c (id)
             join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
             join :SCHEMA.queue_line o on o.queue_name = b.queue_name and o.order_key = b.order_key
            where b.status = 'pending' and o.head_id <> b.id)
       order by l.order_key
         for no key update skip locked
    ), late as materialized (
      select b.id
        from unnest(ids) as c (id)
        join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
        join line l on l.order_key = b.order_key
       where b.status = 'pending' and l.head_id <> b.id
         for update of b skip locked
    )
    update :SCHEMA.queue_message_batch b set status = 'behind' from late l where b.queue_name = queue and b.id = l.id;
    select ready + count(*) into ready
      from unnest(ids) as c (id)
      join :SCHEMA.queue_message_batch b on b.queue_name = queue and b.id = c.id
     where b.status = 'pending'
       and (b.order_key is null
            or exists (select from :SCHEMA.queue_line l
                        where l.queue_name = b.queue_name and l.order_key = b.order_key and l.head_id = b.id));
    looked := looked + seen;
    exit when ready >= enough or seen < portion;
    if looked >= 2000 then
      ready := -1;
      return;
    end if;
  end loop;
end $$;
