-- What the committed migrations make, as read back from the catalogs. Written by `npm run migrate:build`, compared by
-- test/sql/schema-snapshot.test.ts. To read, not to run; the bodies of the functions are in functions/.

create table claim_gate (

);
create table dead_message_batch (
  dead_id bigint generated always as identity not null,
  queue_name text not null,
  batch_id bigint not null,
  reason text not null,
  error text,
  died_at timestamp with time zone not null default clock_timestamp(),
  failures integer not null,
  crashes integer not null,
  owner text,
  priority integer not null,
  version integer not null,
  created_at timestamp with time zone not null,
  message_count integer not null,
  bytes integer default octet_length(payload),
  payload text not null,
  meta text,
  origin_id bigint,
  origin_at timestamp with time zone,
  positions integer[],
  max_attempts integer,
  stale_after_ms bigint,
  chain text,
  history text,
  tracked boolean,
  order_key text,
  unique_key text
) with (
  vacuum_truncate=false
);
create table migration (
  name text not null,
  hash text not null,
  applied_at timestamp with time zone not null default clock_timestamp()
);
create table node (
  owner text not null,
  name text not null,
  started_at timestamp with time zone not null default clock_timestamp(),
  versions jsonb not null default '{}'::jsonb,
  refused text[] not null default '{}'::text[],
  session_at timestamp with time zone,
  stopped_at timestamp with time zone
);
create table progress (
  key text not null,
  percent double precision not null default 0,
  stage text,
  state text not null default 'running'::text,
  updated_at timestamp with time zone not null default clock_timestamp()
) with (
  fillfactor=50,
  vacuum_truncate=false
);
create table queue (
  queue_name text not null,
  version integer not null default 1,
  schema_hash text,
  schema text,
  settings jsonb not null default '{}'::jsonb,
  exclusive boolean not null default false,
  max_batch_messages integer not null default 100,
  max_batch_bytes integer not null default 1048576,
  max_attempts integer not null default 5,
  orphan_after_ms bigint not null default 8000,
  stale_after_ms bigint not null default 600000,
  dead_letter boolean not null default true,
  retention_ms bigint not null default 1209600000,
  unique_by text[],
  unique_running boolean not null default false,
  unique_replaces boolean not null default false,
  order_by text,
  order_skips boolean not null default false,
  max_in_flight integer,
  draining boolean not null default false,
  rate_limit integer,
  rate_per_ms bigint,
  paused_at timestamp with time zone,
  updated_at timestamp with time zone not null default clock_timestamp(),
  updated_by text,
  flow boolean default ((order_by IS NOT NULL) OR (max_in_flight IS NOT NULL) OR (rate_limit IS NOT NULL))
);
create table queue_line (
  queue_name text not null,
  order_key text not null,
  head_id bigint
) with (
  fillfactor=50,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=5000
);
create table queue_message_batch (
  id bigint generated always as identity not null,
  queue_name text not null,
  status text not null default 'pending'::text,
  priority integer not null default 100,
  version integer not null default 1,
  available_at timestamp with time zone,
  created_at timestamp with time zone not null default clock_timestamp(),
  status_heartbeat timestamp with time zone,
  failures integer not null default 0,
  crashes integer not null default 0,
  owner text,
  claim_token bigint,
  message_count integer not null default 1,
  bytes integer default octet_length(payload),
  payload text not null,
  meta text,
  origin_id bigint,
  origin_at timestamp with time zone,
  positions integer[],
  max_attempts integer,
  stale_after_ms bigint,
  order_key text,
  unique_key text,
  unique_running boolean,
  last_error text,
  chain text,
  history text,
  tracked boolean,
  quiet boolean
) with (
  fillfactor=85,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=5000,
  autovacuum_vacuum_insert_scale_factor=0,
  autovacuum_vacuum_insert_threshold=100000,
  autovacuum_analyze_scale_factor=0,
  autovacuum_analyze_threshold=50000,
  autovacuum_vacuum_cost_delay=1,
  autovacuum_vacuum_cost_limit=2000,
  vacuum_truncate=false
);
create table queue_rate (
  queue_name text not null,
  ends bigint[] not null default '{}'::bigint[],
  counts integer[] not null default '{}'::integer[]
) with (
  fillfactor=10,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=500
);
create table queue_slot (
  queue_name text not null,
  slot integer not null,
  batch_id bigint
) with (
  fillfactor=10,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=500
);
create table queue_version (
  queue_name text not null,
  version integer not null,
  schema_hash text not null,
  schema text not null,
  first_seen_at timestamp with time zone not null default clock_timestamp(),
  registered_at timestamp with time zone not null default clock_timestamp()
);
create table schedule (
  queue_name text not null,
  entry text not null,
  cron text not null,
  time_zone text not null,
  payload text not null,
  version integer not null,
  catch_up integer not null,
  next_at timestamp with time zone,
  last_at timestamp with time zone
) with (
  fillfactor=50,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=500
);

alter table dead_message_batch add constraint dead_message_batch_pkey PRIMARY KEY (dead_id);
alter table migration add constraint migration_pkey PRIMARY KEY (name);
alter table node add constraint node_pkey PRIMARY KEY (owner);
alter table progress add constraint progress_key_check CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 254)));
alter table progress add constraint progress_percent_check CHECK (((percent >= (0)::double precision) AND (percent <= (100)::double precision)));
alter table progress add constraint progress_pkey PRIMARY KEY (key);
alter table progress add constraint progress_state_check CHECK ((state = ANY (ARRAY['running'::text, 'finished'::text, 'failed'::text])));
alter table queue add constraint queue_pkey PRIMARY KEY (queue_name);
alter table queue add constraint queue_queue_name_check CHECK (((octet_length(queue_name) >= 1) AND (octet_length(queue_name) <= 254)));
alter table queue_line add constraint queue_line_pkey PRIMARY KEY (queue_name, order_key);
alter table queue_message_batch add constraint queue_message_batch_pkey PRIMARY KEY (queue_name, id);
alter table queue_message_batch add constraint queue_message_batch_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delayed'::text, 'processing'::text, 'behind'::text])));
alter table queue_rate add constraint queue_rate_pkey PRIMARY KEY (queue_name);
alter table queue_slot add constraint queue_slot_pkey PRIMARY KEY (queue_name, slot);
alter table queue_version add constraint queue_version_pkey PRIMARY KEY (queue_name, version, schema_hash);
alter table schedule add constraint schedule_pkey PRIMARY KEY (queue_name, entry);

CREATE INDEX dead_message_batch_queue ON postrider.dead_message_batch USING btree (queue_name, dead_id);
CREATE INDEX progress_updated_at ON postrider.progress USING btree (updated_at);
CREATE INDEX queue_line_headless ON postrider.queue_line USING btree (queue_name, order_key) WHERE (head_id IS NULL);
CREATE INDEX queue_message_batch_delayed ON postrider.queue_message_batch USING btree (available_at) WHERE (status = 'delayed'::text);
CREATE INDEX queue_message_batch_line ON postrider.queue_message_batch USING btree (queue_name, order_key, COALESCE(origin_id, id), id) WHERE ((order_key IS NOT NULL) AND (status <> 'processing'::text));
CREATE INDEX queue_message_batch_pending ON postrider.queue_message_batch USING btree (queue_name, priority, id, version) WHERE (status = 'pending'::text);
CREATE INDEX queue_message_batch_processing ON postrider.queue_message_batch USING btree (queue_name, id) WHERE (status = 'processing'::text);
CREATE UNIQUE INDEX queue_message_batch_unique ON postrider.queue_message_batch USING btree (queue_name, unique_key) WHERE (unique_running OR ((NOT unique_running) AND (status <> 'processing'::text)));

create sequence flush_point as bigint minvalue 1 maxvalue 9223372036854775807 increment 1;

create function ack(queues text[], ids bigint[], tokens bigint[]) returns SETOF bigint language plpgsql security definer set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function admit(queue text, room integer, known_version integer, max_bytes bigint, OUT ids bigint[], OUT due_ms bigint, OUT more boolean, OUT taken_bytes bigint) returns record language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function announce(queues text[], mark boolean DEFAULT false, known boolean DEFAULT false) returns void language plpgsql set search_path=pg_catalog, pg_temp;
create function check_chain() returns trigger language plpgsql set search_path=pg_catalog, pg_temp;
create function claim(queues text[], limits integer[], versions integer[], node text, max_bytes bigint DEFAULT 67108864, mark_queues text[] DEFAULT '{}'::text[], mark_priorities integer[] DEFAULT '{}'::integer[], mark_ids bigint[] DEFAULT '{}'::bigint[], merge_messages integer[] DEFAULT '{}'::integer[], merge_bytes bigint[] DEFAULT '{}'::bigint[]) returns TABLE(queue_name text, id bigint, claim_token bigint, failures integer, crashes integer, priority integer, version integer, message_count integer, bytes integer, payload text, meta text, created_at timestamp with time zone, origin_id bigint, origin_at timestamp with time zone, positions integer[], max_attempts integer, call integer, chain_id text) language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set enable_sort=off set plan_cache_mode=force_generic_plan;
create function dead_letter(queues text[], ids bigint[], tokens bigint[], reasons text[], errors text[]) returns SETOF bigint language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function depths(max_rows integer DEFAULT 10001) returns TABLE(queue_name text, pending bigint, delayed bigint, processing bigint, dead bigint, oldest_at timestamp with time zone, paused boolean) language plpgsql stable set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off;
create function divide(queue text, batch_id bigint, token bigint, payloads text[], metas text[], places integer[], last_attempt boolean, delay_ms bigint, error text) returns SETOF bigint language plpgsql security definer set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function due_schedules(max_rows integer DEFAULT 100) returns TABLE(queue_name text, entry text, cron text, time_zone text, catch_up integer, next_at timestamp with time zone, wait_ms bigint, now timestamp with time zone) language plpgsql set search_path=pg_catalog, pg_temp;
create function fall_asleep(queues text[]) returns integer[] language plpgsql set search_path=pg_catalog, pg_temp;
create function gauges(max_rows integer DEFAULT 10000) returns TABLE(queue_name text, pending bigint, delayed bigint, processing bigint, dead bigint, estimated text[], oldest_age_s double precision, unconsumable bigint) language plpgsql set search_path=pg_catalog, pg_temp;
create function hand_over(batch_id bigint, chain text) returns bigint language plpgsql set search_path=pg_catalog, pg_temp;
create function has_pending(queue text) returns boolean language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set plan_cache_mode=force_generic_plan;
create function heartbeat(queues text[], ids bigint[], tokens bigint[]) returns TABLE(token bigint, answer text) language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function history_with(history text, letter postrider.dead_message_batch) returns text language sql stable set search_path=pg_catalog, pg_temp;
create function insert_batch(queue text, chunk text, messages integer, version integer, delay_ms bigint, priority integer, headers jsonb, order_key text) returns bigint language plpgsql set search_path=pg_catalog, pg_temp;
create procedure insert_one(IN queue text, IN version integer, IN priority integer, IN message_count integer, IN payload text, IN meta text, IN announces boolean, INOUT id bigint DEFAULT NULL::bigint) language plpgsql;
create function insert_unique(new_id bigint, queue text, version integer, priority integer, message_count integer, payload text, meta text, max_attempts integer, stale_after_ms bigint, available_at timestamp with time zone, order_key text, unique_key text, unique_running boolean, replaces boolean, announces boolean) returns TABLE(id bigint, stored boolean) language plpgsql security definer set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set plan_cache_mode=force_generic_plan;
create function is_alive(owner text) returns boolean language plpgsql set search_path=pg_catalog, pg_temp;
create function is_due_known(after_ms bigint) returns boolean language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off;
create function is_headless(queue text) returns boolean language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set plan_cache_mode=force_generic_plan;
create function keep_refusals(node text, fresh text[], known text[]) returns text[] language plpgsql set search_path=pg_catalog, pg_temp;
create function keep_schedules(queue text, its_version integer, entries text[], crons text[], zones text[], payloads text[], catch_ups integer[], next_ats timestamp with time zone[]) returns void language plpgsql set search_path=pg_catalog, pg_temp;
create function line_up(queue text, known_version integer, enough integer, OUT ready integer, OUT headless boolean) returns record language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function message_key(payload text, pointers text[]) returns text language plpgsql immutable set search_path=pg_catalog, pg_temp;
create function next_batch_id() returns bigint language sql security definer set search_path=pg_catalog, pg_temp;
create function next_due_ms() returns bigint language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off;
create function note_death() returns trigger language plpgsql set search_path=pg_catalog, pg_temp;
create function note_node(owner text, name text, versions jsonb) returns void language plpgsql set search_path=pg_catalog, pg_temp;
create function occur(queue text, entry_key text, expected timestamp with time zone, following timestamp with time zone, occurrences timestamp with time zone[]) returns integer language plpgsql security definer set search_path=pg_catalog, pg_temp;
create function owner_key(owner text) returns integer language sql stable;
create function pass_on(telling boolean DEFAULT true) returns void language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function pick(queue text, version integer, n integer, share bigint, room bigint, first boolean, mark_queues text[], mark_priorities integer[], mark_ids bigint[], most_messages integer, most_bytes bigint, OUT ids bigint[], OUT calls integer[], OUT taken bigint, OUT left_one boolean) returns record language plpgsql;
create function poll(queues text[], limits integer[], versions integer[], node text, max_bytes bigint, mark_queues text[], mark_priorities integer[], mark_ids bigint[], maintain boolean, recovering boolean, orphans boolean, falling_asleep boolean, pruning boolean, merge_messages integer[] DEFAULT '{}'::integer[], merge_bytes bigint[] DEFAULT '{}'::bigint[], fresh_refusals text[] DEFAULT '{}'::text[], known_refusals text[] DEFAULT '{}'::text[]) returns TABLE(queue_name text, id bigint, claim_token bigint, failures integer, crashes integer, priority integer, version integer, message_count integer, bytes integer, payload text, meta text, created_at timestamp with time zone, origin_id bigint, origin_at timestamp with time zone, positions integer[], max_attempts integer, call integer, chain_id text, report jsonb) language plpgsql set search_path=pg_catalog, pg_temp;
create function progress_of_batch(queue text, batch_id bigint, token bigint, percent double precision, stage text) returns boolean language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off;
create function promote(max_rows integer DEFAULT 1000) returns TABLE(queue_name text, promoted integer) language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function prune(max_rows integer DEFAULT 1000) returns integer language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off;
create function prune_versions(max_rows integer DEFAULT 1000) returns integer language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off;
create function publish(queue text, messages text, delay_ms bigint DEFAULT 0, priority integer DEFAULT 100, headers jsonb DEFAULT NULL::jsonb) returns SETOF bigint language plpgsql set search_path=pg_catalog, pg_temp;
create function publisher_in_flight(queues text[]) returns boolean language plpgsql set search_path=pg_catalog, pg_temp;
create function purge(queue text, dead_ids bigint[], reasons text[], max_rows integer) returns integer language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off;
create function recover(orphans boolean, max_rows integer DEFAULT 100) returns TABLE(queue_name text, reason text, recovered integer, died integer) language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function redrive(queue text, dead_ids bigint[], reasons text[], max_rows integer) returns SETOF bigint language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off;
create function regain_keys(queues text[], ids bigint[]) returns void language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan set lock_timeout=10ms;
create function register_queue(definition jsonb, node text) returns TABLE(written boolean, was_version integer, was_schema_hash text, was_settings jsonb) language plpgsql set search_path=pg_catalog, pg_temp;
create function release(queues text[], ids bigint[], tokens bigint[], delays_ms bigint[]) returns SETOF bigint language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function remove_waiting(queue text, batch_id bigint, max_rows integer DEFAULT 1000, unique_key text DEFAULT NULL::text) returns integer language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off;
create function reopen(dead_id bigint, chain text) returns bigint language plpgsql set search_path=pg_catalog, pg_temp;
create function repair_lines() returns SETOF text language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off;
create function repair_slots() returns SETOF text language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off;
create function retry(queues text[], ids bigint[], tokens bigint[], delays_ms bigint[], errors text[]) returns TABLE(id bigint, outcome text) language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function rise(keys integer[]) returns void language plpgsql set search_path=pg_catalog, pg_temp;
create function set_paused(queue text, paused boolean) returns void language plpgsql set search_path=pg_catalog, pg_temp;
create function set_slots(queue text, slots integer) returns void language plpgsql set search_path=pg_catalog, pg_temp set lock_timeout=2s;
create function settle_part(queue text, batch_id bigint, token bigint, rest_payload text, rest_meta text, rest_positions integer[], rest_count integer, dead_payloads text[], dead_metas text[], dead_positions integer[], dead_reasons text[], dead_errors text[], delay_ms bigint, error text) returns text language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function take(queue text, ids bigint[], node text) returns TABLE(queue_name text, id bigint, claim_token bigint, failures integer, crashes integer, priority integer, version integer, message_count integer, bytes integer, payload text, meta text, created_at timestamp with time zone, origin_id bigint, origin_at timestamp with time zone, positions integer[], max_attempts integer, call integer, chain_id text) language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off set plan_cache_mode=force_generic_plan;
create function unconsumable(max_rows integer DEFAULT 10000) returns TABLE(queue_name text, known_version integer, batches bigint) language plpgsql set search_path=pg_catalog, pg_temp set enable_seqscan=off set enable_bitmapscan=off set enable_hashjoin=off set enable_mergejoin=off;
create function wake(queues text[], mark boolean DEFAULT false) returns integer language plpgsql set search_path=pg_catalog, pg_temp;
create function wake_key(queue text) returns integer language sql stable;
create function wake_on_insert() returns trigger language plpgsql set search_path=pg_catalog, pg_temp;
create function write_progress(progress_key text, percent double precision, stage text, state text) returns void language plpgsql set search_path=pg_catalog, pg_temp;

CREATE TRIGGER dead_message_batch_progress BEFORE INSERT ON postrider.dead_message_batch FOR EACH ROW WHEN (((new.chain IS NOT NULL) OR new.tracked)) EXECUTE FUNCTION postrider.note_death();
CREATE TRIGGER queue_message_batch_chain BEFORE INSERT ON postrider.queue_message_batch FOR EACH ROW WHEN ((new.chain IS NOT NULL)) EXECUTE FUNCTION postrider.check_chain();
CREATE TRIGGER queue_message_batch_wake AFTER INSERT ON postrider.queue_message_batch FOR EACH ROW WHEN ((new.quiet IS NULL)) EXECUTE FUNCTION postrider.wake_on_insert();
