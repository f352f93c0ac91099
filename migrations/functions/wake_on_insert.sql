-- wake_on_insert: the trigger behind every insert that does not wake by itself.
-- `set local postrider.wake = off` silences it for a two-phase commit, which refuses a transaction that has notified.
create or replace function :SCHEMA.wake_on_insert() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('postrider.wake', true) is distinct from 'off' then
    -- A delayed row carries the mark: sleepers must look, to learn when it is due.
    perform :SCHEMA.announce(array[new.queue_name], new.status = 'delayed');
  end if;
  return null;
end $$;
