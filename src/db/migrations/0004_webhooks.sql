create table webhook (
  webhook_id bigint generated always as identity,
  account_id bigint not null references account,
  url text not null,
  description text not null default '',
  event_types text[] not null default '{}', -- empty: all, here and in the two lists below
  location_ids bigint[] not null default '{}',
  menu_ids bigint[] not null default '{}',
  granted_location_ids bigint[], -- grant of the client that made it; null: every location
  enabled boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz(3),
  failing_since timestamptz(3), -- the first failure since something last got through; null: healthy
  consecutive_failures integer not null default 0,
  probe_at timestamptz(3), -- while the circuit is open: when the next attempt may be made
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version bigint not null default 1,
  primary key (webhook_id, account_id)
) with (fillfactor = 70);
create index webhook_by_account on webhook (account_id, webhook_id);

-- More than one is valid while a rotation overlaps; each of them signs.
create table webhook_secret (
  webhook_id bigint not null,
  account_id bigint not null,
  sealed_secret bytea not null,
  expires_at timestamptz(3), -- null: the current one
  created_at timestamptz(3) not null default now(),
  foreign key (webhook_id, account_id) references webhook (webhook_id, account_id) on delete cascade
);
create index webhook_secret_by_webhook on webhook_secret (webhook_id, account_id);

-- One event on its way to one endpoint. Narrow and without the payload, since a dead endpoint collects
-- hundreds of thousands. States: 'held' waits for an earlier event of the same record at the same endpoint;
-- 'pending' is to be attempted at next_attempt_at; 'delivered' and 'failed' are final.
-- No foreign keys: what a deleted webhook leaves is swept later, so that the delete need not wait for it; an event
-- stays as long as it has an unfinished delivery.
create table delivery (
  delivery_id bigint generated always as identity,
  account_id bigint not null,
  webhook_id bigint not null,
  event_id uuid not null,
  event_sequence bigint not null,
  event_type text not null,
  record text not null,
  state text not null check (state in ('held', 'pending', 'delivered', 'failed')),
  attempts smallint not null default 0,
  next_attempt_at timestamptz(3), -- null unless pending
  leased_until timestamptz(3), -- an attempt is under way, unless this has passed; in no index, so that a claim is HOT
  created_at timestamptz(3) not null default now(),
  primary key (delivery_id, account_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index delivery_due on delivery (webhook_id, next_attempt_at) where state = 'pending';
create index delivery_lane on delivery (webhook_id, record, event_sequence) where state in ('held', 'pending');
create index delivery_log on delivery (webhook_id, delivery_id);

create table attempt (
  delivery_id bigint not null,
  account_id bigint not null,
  number smallint not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  status smallint,
  error text,
  response_excerpt text,
  primary key (delivery_id, number, account_id),
  foreign key (delivery_id, account_id) references delivery (delivery_id, account_id) on delete cascade
);

-- One relay at a time, so that deliveries of one record are queued in the order of its events.
create table relay (singleton boolean primary key default true check (singleton));
insert into relay default values;
