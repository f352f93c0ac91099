-- owner_key: the advisory-lock key of a node's life (class 7303). Held shared by the node's LISTEN connection; whoever gets
-- it exclusively knows that the node's session is gone.
create or replace function :SCHEMA.owner_key(owner text) returns int
language sql stable parallel safe
as $$ select hashtext(:SCHEMA_LITERAL || '.' || owner) $$;
