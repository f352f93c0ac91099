-- check_chain: the trigger that refuses a chain without an id, or with one too long to be a key of the progress.
create or replace function :SCHEMA.check_chain() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(octet_length(new.chain::json ->> 'id'), 0) not between 1 and 248 then
    raise check_violation using
      message = format('chain of a batch of queue "%s": expected JSON with an "id" of 1 to 248 bytes, found %s', new.queue_name,
                       left(new.chain, 100));
  end if;
  return new;
end $$;
