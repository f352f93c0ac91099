-- What a role may do, for databases whose application does not connect as the owner of the schema. Not a migration: run it
-- by hand after each `postrider migrate`, as the schema's owner. The roles must exist; one role may be given as both.
--
--   psql -v SCHEMA=postrider -v PUBLISHER=app_web -v CONSUMER=app_worker -f grants.sql
--
-- PUBLISHER  stores messages, through the library or `select postrider.publish(…)`. It reads no message and no dead letter.
-- CONSUMER   delivers: registers queues, claims, settles, recovers, prunes. It stores no message of its own.
-- An operator (redrive, purge, clear, pause) is given both.
--
-- Functions run with their caller's rights, apart from those that put into a queue what follows from a batch or schedule its
-- caller holds: ack() (a chain's next step), divide() and occur(); and from
-- insert_unique(), which deletes what its caller replaces.

revoke execute on all routines in schema :SCHEMA from public;
grant usage on schema :SCHEMA to :PUBLISHER, :CONSUMER;
grant select on :SCHEMA.migration to :PUBLISHER, :CONSUMER;
grant execute on function
  :SCHEMA.wake_key(text), :SCHEMA.wake(text[], boolean), :SCHEMA.announce(text[], boolean, boolean)
  to :PUBLISHER, :CONSUMER;

-- Delivering. UPDATE on the gate is the right to lock it: it never holds a row.
grant select, update, delete on :SCHEMA.queue_message_batch to :CONSUMER;
grant select, insert, delete on :SCHEMA.dead_message_batch to :CONSUMER;
-- Locking a dead letter that is pruned needs UPDATE on a column; the key is one nobody can change.
grant update (dead_id) on :SCHEMA.dead_message_batch to :CONSUMER;
grant select, insert, update, delete on :SCHEMA.queue_slot, :SCHEMA.queue_line, :SCHEMA.queue_rate, :SCHEMA.node to :CONSUMER;
grant select, insert, update on :SCHEMA.queue to :CONSUMER;
grant select, insert, update (registered_at), delete on :SCHEMA.queue_version to :CONSUMER;
grant update on :SCHEMA.claim_gate to :CONSUMER;
grant select, insert, update, delete on :SCHEMA.progress, :SCHEMA.schedule to :CONSUMER;
grant execute on all functions in schema :SCHEMA to :CONSUMER;
revoke execute on function
  :SCHEMA.publish(text, text, bigint, int, jsonb), :SCHEMA.insert_batch(text, text, int, int, bigint, int, jsonb, text),
  :SCHEMA.next_batch_id(), :SCHEMA.message_key(text, text[]),
  :SCHEMA.insert_unique(bigint, text, int, int, int, text, text, int, bigint, timestamptz, text, text, boolean, boolean, boolean),
  :SCHEMA.hand_over(bigint, text)
  from :CONSUMER;

-- Publishing; last, so that one role may be given as both. The id comes back, hence the one column to read.
grant insert, select (id) on :SCHEMA.queue_message_batch to :PUBLISHER;
grant select, insert, update on :SCHEMA.progress to :PUBLISHER;
grant execute on function :SCHEMA.write_progress(text, double precision, text, text) to :PUBLISHER;
grant select (queue_name, version, max_batch_messages, max_batch_bytes, unique_by, unique_running, unique_replaces, order_by,
  rate_limit) on :SCHEMA.queue to :PUBLISHER;
grant execute on function
  :SCHEMA.publish(text, text, bigint, int, jsonb), :SCHEMA.insert_batch(text, text, int, int, bigint, int, jsonb, text),
  :SCHEMA.next_batch_id(), :SCHEMA.message_key(text, text[]),
  :SCHEMA.insert_unique(bigint, text, int, int, int, text, text, int, bigint, timestamptz, text, text, boolean, boolean, boolean)
  to :PUBLISHER;
grant execute on procedure :SCHEMA.insert_one(text, int, int, int, text, text, boolean, bigint) to :PUBLISHER;
grant update on sequence :SCHEMA.flush_point to :PUBLISHER;
