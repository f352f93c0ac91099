-- set_slots: make a queue have this many slots; 0 = it is not limited. Private to register_queue.
-- Changes nothing where it is so already, which is nearly always: the gate would stop every claim for a moment. Where it
-- does change, every claim under way has ended once the gate is ours, and its batches are seen by the next one, which then
-- waits until they have drained. Bounded at two seconds: whoever waits for the gate makes all claims wait behind it.
-- A slot that is in use is dropped too: its batch goes on, and no other starts before it has ended.
create or replace function :SCHEMA.set_slots(queue text, slots int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
begin
  if slots = (select count(*) from :SCHEMA.queue_slot s where s.queue_name = queue) then
    return;
  end if;
  lock table :SCHEMA.claim_gate in exclusive mode;
  delete from :SCHEMA.queue_slot s where s.queue_name = queue and s.slot >= slots;
  insert into :SCHEMA.queue_slot (queue_name, slot) select queue, n from generate_series(0, slots - 1) n on conflict do nothing;
  update :SCHEMA.queue r set draining = slots > 0 where r.queue_name = queue;
end $$;
