-- Written by the same statement as the change it tells of. `payload` holds the exact bytes that are sent.
-- No foreign key: every write of an account would lock its one account row.
create table event (
  event_id uuid not null, -- version 7, so that the key also goes by age
  account_id bigint not null,
  sequence bigint generated always as identity,
  transaction_id xid8 not null default pg_current_xact_id(),
  type text not null,
  record text not null, -- 'item:17': the unit of order
  location_id bigint not null,
  menu_id bigint,
  payload json not null,
  created_at timestamptz(3) not null default now(),
  relayed boolean not null default false,
  primary key (event_id, account_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index event_unrelayed on event (sequence) where not relayed;
create index event_feed on event (account_id, transaction_id, sequence);

create function event_id_text(event_id uuid) returns text language sql immutable strict parallel safe
  return 'evt_' || replace(event_id::text, '-', '');

-- The fields of `before` that `after` shows differently; what every write changes is left out.
create function changed_fields(before json, after json) returns json language sql immutable parallel safe
  return (
    select json_object_agg(old.key, old.value)
    from json_each(before) as old join json_each(after) as new on new.key = old.key
    where old.value::text <> new.value::text and old.key not in ('version', 'updated_at')
  );
