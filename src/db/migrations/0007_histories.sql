-- What is numbered on one server means nothing on another: after a restore, a failover that lost writes or a move to
-- another server, the same numbers are given again. ETags and positions of the feed tell such histories apart.

-- A version's ETag names the write that made it, by a random stamp. The constant is for rows that exist: a volatile
-- default would rewrite the table.
alter table location add column stamp integer not null default 0;
alter table location alter column stamp set default (random() * 2147483647)::integer;
alter table menu add column stamp integer not null default 0; -- goes with content_version
alter table menu alter column stamp set default (random() * 2147483647)::integer;
alter table category add column stamp integer not null default 0;
alter table category alter column stamp set default (random() * 2147483647)::integer;
alter table item add column stamp integer not null default 0;
alter table item alter column stamp set default (random() * 2147483647)::integer;
alter table webhook add column stamp integer not null default 0;
alter table webhook alter column stamp set default (random() * 2147483647)::integer;

-- The histories of this database, each a stretch of time on one server; the relay adds one when it finds another.
create table epoch (
  epoch bigint primary key, -- Unix milliseconds of its beginning, so that two restores of one backup differ
  server text not null, -- as server_history() told it
  -- The greatest id of the events that it found in the outbox; they may have been in the feed of the history before, in
  -- another order. Null: none.
  inherited uuid
);
insert into epoch values (0, '');

-- What changes when the database is restored, promoted or moved: the cluster, the timeline of its log, the database in
-- it, the table in that. Null on a replica; what the provider of a database withholds stays empty.
create function server_history() returns text language plpgsql stable as $$
declare
  cluster text := '';
  timeline text := '';
begin
  if pg_is_in_recovery() then return null; end if;
  begin
    select system_identifier into cluster from pg_control_system();
  exception when insufficient_privilege or feature_not_supported then null;
  end;
  begin
    timeline := left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
  exception when insufficient_privilege or feature_not_supported then null;
  end;
  return concat_ws('.', cluster, timeline, (select oid from pg_database where datname = current_database()),
    'epoch'::regclass::oid);
end $$;

-- Events that are not relayed yet. Within one record the sequence is the order of its changes, since the row lock of
-- the record is held while it is drawn.
create table outbox (
  sequence bigint generated always as identity,
  account_id bigint not null,
  event_id uuid not null,
  primary key (sequence, account_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- The events of an account in the order in which they were relayed. The relay numbers what is committed, one batch
-- after the other, so nothing ever appears before a position that a reader has passed.
create table feed (
  account_id bigint not null,
  epoch bigint not null,
  position bigint not null, -- of the account; goes on across epochs
  event_id uuid not null,
  type text not null,
  record text not null,
  location_id bigint not null,
  menu_id bigint,
  primary key (account_id, epoch, position)
);

-- Where the feed of an account ends, and the last of its events that is no longer kept.
create table account_feed (
  account_id bigint primary key,
  epoch bigint not null,
  position bigint not null,
  event_id uuid not null,
  removed_epoch bigint,
  removed_position bigint,
  removed_event_id uuid
) with (fillfactor = 50);

insert into feed select account_id, 0, sequence, event_id, type, record, location_id, menu_id from event where relayed;
insert into account_feed (account_id, epoch, position, event_id)
  select distinct on (account_id) account_id, 0, position, event_id from feed order by account_id, position desc;
insert into outbox (sequence, account_id, event_id) overriding system value
  select sequence, account_id, event_id from event where not relayed;
select setval(pg_get_serial_sequence('outbox', 'sequence'),
  greatest((select max(sequence) from event), (select max(event_sequence) from delivery), 1));

create index feed_by_event on feed (event_id);
-- Without the epoch, so that the order by position leads here: the planner would take the primary key for a type that is
-- common on the whole, and look through all events for one that is not.
create index feed_by_menu on feed (account_id, menu_id, position) where menu_id is not null;
create index feed_by_location on feed (account_id, location_id, position);
create index feed_by_type on feed (account_id, type, position);

-- What listDeliveries looks for.
create index delivery_by_record on delivery (webhook_id, record, delivery_id);
create index delivery_by_time on delivery (webhook_id, created_at);

alter table event drop column relayed, drop column transaction_id, drop column sequence;
