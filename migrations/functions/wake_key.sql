-- wake_key: the advisory-lock key of a queue, 0 to 63.
--   queue  its name
-- 64 keys and not one per name, because a lock per queue overflows the server's lock table (1,000 queues on each of 32
-- nodes: new connections get "out of shared memory"). The price is a spurious wake-up where two queues share a key.
-- The schema is part of the hash, so that two schemas of one database rarely meet. Computed only here, never in code:
-- hashtext() is not promised to be the same in every server version.
create or replace function :SCHEMA.wake_key(queue text) returns int
language sql stable parallel safe
as $$ select hashtext(:SCHEMA_LITERAL || '.' || queue) & 63 $$;
