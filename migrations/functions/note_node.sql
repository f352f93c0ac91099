-- note_node: the start or the end of a node. Who lives is read from the session locks; this is for people, for recovery (a
-- node that never had a session cannot be told from a dead one) and for counting what nobody can consume.
--   owner, name  the node's life, and what people call it
--   versions     at its start, the newest message version it knows, by queue; null: it ends
create or replace function :SCHEMA.note_node(owner text, name text, versions jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if versions is null then
    update :SCHEMA.node n set stopped_at = clock_timestamp() where n.owner = note_node.owner;
  else
    insert into :SCHEMA.node as n (owner, name, versions) values (note_node.owner, note_node.name, note_node.versions)
    on conflict on constraint node_pkey do update set versions = excluded.versions, stopped_at = null;
  end if;
end $$;
