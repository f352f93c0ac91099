-- message_key: the key of the first message of a payload for `unique` and `orderBy`, as batch/message-key.ts makes it: the values at the pointers,
-- a number without exponent, longer than 200 bytes as a digest. Null where a value is missing. Private to what stores
-- messages in SQL.
create or replace function :SCHEMA.message_key(payload text, pointers text[]) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  readable text;
  message json;
  pointer text;
  value json;
  one text;
  key text;
begin
  message := payload::json -> 0;
  foreach pointer in array pointers loop
    value := message #> array(
      select replace(replace(part, '~1', '/'), '~0', '~') from unnest(string_to_array(substr(pointer, 2), '/')) with ordinality as p (part, n)
       order by n);
    if value is null then
      return null;
    end if;
    one := value::text;
    if json_typeof(value) = 'number' then
      one := trim_scale(one::numeric)::text;
    elsif json_typeof(value) = 'string' then
      one := to_json(value #>> '{}')::text;
    end if;
    key := case when key is null then one else key || ',' || one end;
  end loop;
  return case when octet_length(key) <= 200 then key else 'sha256:' || encode(sha256(convert_to(key, 'UTF8')), 'hex') end;
exception when data_exception then
  -- \u0000 or a lone surrogate, which json can hold but not look into: as if another character stood there.
  readable := regexp_replace(payload, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g');
  if readable = payload then
    raise;
  end if;
  return :SCHEMA.message_key(readable, pointers);
end $$;
