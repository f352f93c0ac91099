-- progress_of_batch: record how far a batch's owner has come with it. False when the batch is no longer the owner's: then
-- nothing was written (R1, J5).
--   queue, batch_id, token  the fence
--   percent, stage          as in write_progress. Of a chain's step: of that step; what is recorded is the whole chain's
-- The row is locked until the commit, so that nobody recovers it between the look and the write. Only the first call changes
-- it. Commits asynchronously: a crash of the server may cost the last half second of a progress, and no batch.
-- Locks: the row, then the progress row.
create or replace function :SCHEMA.progress_of_batch(
  queue text, batch_id bigint, token bigint, percent double precision, stage text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  mine record;
  part double precision := greatest(0, least(100, percent));
begin
  select b.chain::json as chain, b.tracked into mine
    from :SCHEMA.queue_message_batch b
   where b.queue_name = queue and b.id = batch_id and b.claim_token = token and b.status = 'processing'
     for no key update;
  if not found then
    return false;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  if mine.tracked is null then
    update :SCHEMA.queue_message_batch b set tracked = true where b.queue_name = queue and b.id = batch_id;
  end if;
  if mine.chain is null then
    perform :SCHEMA.write_progress(batch_id::text, part, stage, 'running');
  else
    perform :SCHEMA.write_progress('chain:' || (mine.chain ->> 'id'),
      (100 * ((mine.chain ->> 'step')::int - 1) + part) / (mine.chain ->> 'steps')::int, stage, 'running');
  end if;
  return true;
end $$;
