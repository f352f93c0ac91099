-- The trigger is the rule, the library the exception: psql, another language or a foreign transaction wakes the pollers by
-- inserting; the library's own rows say `quiet` and are followed by one wake() after the commit, which keeps commits
-- parallel (a commit that carries a NOTIFY holds a cluster-wide lock across its flush: 765 a second at 1 ms a flush).
-- A row trigger, because the WHEN of a row trigger can read the row: a statement trigger would need a transition table,
-- which copies every payload, and a setting as its switch, which could outlive the statement. Identical notifications of
-- one transaction collapse, so many rows still make one.
create trigger queue_message_batch_wake
  after insert on :SCHEMA.queue_message_batch
  for each row when (new.quiet is null)
  execute function :SCHEMA.wake_on_insert();

-- Every claim reads the chain's id: one that has none would fail the claims of its queue. A CHECK would be made ready anew by
-- every statement that writes a row, which is 20 of the 60 microseconds of an insert, whether there is a chain or not. Not before
-- updates: though it named that column alone, every update of a row would read it once more, a heartbeat of 100 leases 100 buffers.
create trigger queue_message_batch_chain
  before insert on :SCHEMA.queue_message_batch
  for each row when (new.chain is not null)
  execute function :SCHEMA.check_chain();

-- Every way to die inserts here, so that none can forget the progress. Before, so that what is not to be kept never gets in.
create trigger dead_message_batch_progress
  before insert on :SCHEMA.dead_message_batch
  for each row when (new.chain is not null or new.tracked)
  execute function :SCHEMA.note_death();
