-- set_paused: pause or resume a queue (J7). A row, so that it holds for the next claim on every node, also without LISTEN.
--   queue   its name; it need not be registered
--   paused  what it shall be
-- What is in flight goes on. Resuming wakes, and takes back what nodes refuse by themselves (D6): they learn of it in their next
-- round.
create or replace function :SCHEMA.set_paused(queue text, paused boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if paused then
    insert into :SCHEMA.queue as r (queue_name, paused_at) values (queue, clock_timestamp())
    on conflict (queue_name) do update set paused_at = coalesce(r.paused_at, clock_timestamp());
    return;
  end if;
  update :SCHEMA.queue r set paused_at = null where r.queue_name = queue and r.paused_at is not null;
  update :SCHEMA.node n set refused = array_remove(n.refused, queue) where queue = any (n.refused);
  perform :SCHEMA.announce(array[queue], true);
end $$;
