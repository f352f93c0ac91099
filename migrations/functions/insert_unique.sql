-- insert_unique: one batch of a queue with `unique` (J9), stored unless its key is taken. Never an error for that.
--   new_id                 from next_batch_id(): taken beforehand, in the order of publishing
--   unique_key             null: never a conflict
--   unique_running         whether the key is held while the batch runs, too
--   replaces               what waits under the key is deleted for this one; what runs never is
--   announces              true: sleepers are notified by this transaction; false: the caller wakes after its commit
-- Answers the id of the batch, or with `stored` false that of the one that holds the key.
-- A key that another transaction is just about to take, or to give back, is waited for until that one has ended. The calls of
-- one statement come in the order of their keys, or two of them wait for each other.
-- Runs with its owner's rights: a role that may only publish must not delete otherwise.
create or replace function :SCHEMA.insert_unique(
  new_id bigint, queue text, version int, priority int, message_count int, payload text, meta text, max_attempts int,
  stale_after_ms bigint, available_at timestamptz, order_key text, unique_key text, unique_running boolean, replaces boolean,
  announces boolean)
returns table (id bigint, stored boolean)
language plpgsql security definer rows 1
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  holder record;
begin
  loop
    if insert_unique.replaces then
      delete from :SCHEMA.queue_message_batch b
       where b.queue_name = insert_unique.queue and b.unique_key = insert_unique.unique_key
         and (b.unique_running or (not b.unique_running and b.status <> 'processing')) and b.status <> 'processing';
    end if;
    insert into :SCHEMA.queue_message_batch (
      id, queue_name, version, priority, message_count, payload, meta, max_attempts, stale_after_ms, status, available_at,
      order_key, unique_key, unique_running, quiet)
    overriding system value
    values (
      new_id, insert_unique.queue, insert_unique.version, insert_unique.priority, insert_unique.message_count,
      insert_unique.payload, insert_unique.meta, insert_unique.max_attempts, insert_unique.stale_after_ms,
      case when insert_unique.available_at is null then 'pending' else 'delayed' end, insert_unique.available_at,
      insert_unique.order_key, insert_unique.unique_key,
      case when insert_unique.unique_key is not null then insert_unique.unique_running end, true)
    on conflict (queue_name, unique_key) where unique_running or (not unique_running and status <> 'processing') do nothing;
    if found then
      if insert_unique.announces then
        perform :SCHEMA.announce(array[insert_unique.queue], insert_unique.available_at is not null);
      end if;
      return query select new_id, true;
      return;
    end if;
    select b.id, b.status into holder
      from :SCHEMA.queue_message_batch b
     where b.queue_name = insert_unique.queue and b.unique_key = insert_unique.unique_key
       and (b.unique_running or (not b.unique_running and b.status <> 'processing'));
    -- Gone again meanwhile, or newly come: once more.
    if found and (holder.status = 'processing' or not insert_unique.replaces) then
      return query select holder.id, false;
      return;
    end if;
  end loop;
end $$;
