-- history_with: a history with one death more, of the last twenty. Private to redrive.
--   history  JSON array, or null
--   letter   the dead letter
create or replace function :SCHEMA.history_with(history text, letter :SCHEMA.dead_message_batch) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_agg(d.death order by d.n)::text
    from (select h.value as death, h.n
            from json_array_elements(coalesce(history, '[]')::json) with ordinality h (value, n)
           where h.n > json_array_length(coalesce(history, '[]')::json) - 19
          union all
          select json_build_object('reason', letter.reason, 'error', left(letter.error, 2000), 'failures', letter.failures,
                   'crashes', letter.crashes, 'owner', letter.owner, 'diedAt', letter.died_at), 1000000) d
$$;
