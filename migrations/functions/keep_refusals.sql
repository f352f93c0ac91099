-- keep_refusals: what a node claims no more because all of it died of its schema (D6), and what somebody has resumed meanwhile.
-- The node's row holds it, so that status shows it, and so that resuming reaches the node also without LISTEN (J7).
--   node   its owner id
--   fresh  queues it refuses from now on
--   known  queues it refuses, and has said so before
-- Answers those of `known` that were resumed since. Locks: the node's row, where there is something fresh.
create or replace function :SCHEMA.keep_refusals(node text, fresh text[], known text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(fresh) > 0 then
    update :SCHEMA.node n set refused = array(select unnest(n.refused) union select unnest(fresh))
     where n.owner = keep_refusals.node;
  end if;
  return array(select q from unnest(known) q
                where exists (select from :SCHEMA.node n where n.owner = keep_refusals.node and q <> all (n.refused)));
end $$;
