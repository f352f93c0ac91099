-- prune_versions: delete recorded versions that nothing needs any more (Q3); the count of rows deleted. Private to prune.
-- Kept is what the registry names, what a living node knows, what was registered within a week, and every version with a
-- batch waiting, in flight or dead. Rows carry a version and no hash, so they keep every schema of their version.
--   max_rows  how many batches and how many dead letters of a queue are looked through; a queue that has more keeps all of
--             its versions, for no index is led by the version
-- Locks: the rows in the order of their key, SKIP LOCKED. A registration meanwhile is seen: it changes the row.
create or replace function :SCHEMA.prune_versions(max_rows int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  gone int;
begin
  with old as materialized (                               -- nearly always empty: then nothing below is read
    select v.queue_name, v.version, v.schema_hash
      from :SCHEMA.queue_version v
     where v.registered_at < clock_timestamp() - interval '7 days'
       and not exists (select from :SCHEMA.queue r
                        where r.queue_name = v.queue_name and r.version = v.version and r.schema_hash = v.schema_hash)
       and not exists (select from :SCHEMA.node n
                        where n.stopped_at is null and (n.versions ->> v.queue_name)::int = v.version
                          and (n.session_at is null or :SCHEMA.is_alive(n.owner)))
  ), unused as materialized (
    select o.queue_name, o.version, o.schema_hash
      from old o
     cross join lateral (
       select count(*) < max_rows and count(*) filter (where b.version = o.version) = 0 as yes
         from (select b.version from :SCHEMA.queue_message_batch b where b.queue_name = o.queue_name limit max_rows) b) waiting
     cross join lateral (
       select count(*) < max_rows and count(*) filter (where d.version = o.version) = 0 as yes
         from (select d.version from :SCHEMA.dead_message_batch d where d.queue_name = o.queue_name limit max_rows) d) dead
     where waiting.yes and dead.yes
  ), locked as materialized (
    select v.queue_name, v.version, v.schema_hash
      from unused u
      join :SCHEMA.queue_version v using (queue_name, version, schema_hash)
     where v.registered_at < clock_timestamp() - interval '7 days'
     order by v.queue_name, v.version, v.schema_hash
       for update of v skip locked
  )
  delete from :SCHEMA.queue_version v
   using locked l
   where v.queue_name = l.queue_name and v.version = l.version and v.schema_hash = l.schema_hash;
  get diagnostics gone = row_count;
  return gone;
end $$;
