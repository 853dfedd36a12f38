-- Past events that are sent once more to one endpoint. The worker goes through them by event_id, which begins with
-- the time; events of one record commit in the order of their ids, since each waits for the row lock of the one before.
create table replay (
  replay_id bigint generated always as identity,
  account_id bigint not null,
  webhook_id bigint not null,
  position uuid not null, -- events up to this one have been looked at
  until uuid not null, -- the end; later events are sent anyway
  queued bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  primary key (replay_id, account_id),
  foreign key (webhook_id, account_id) references webhook (webhook_id, account_id) on delete cascade
);
create index replay_by_webhook on replay (webhook_id, replay_id);
create index replay_queueing on replay (replay_id) where position < until;

alter table delivery add column replay_id bigint; -- null: the first delivery of the event to this endpoint
create index delivery_replay on delivery (replay_id) where replay_id is not null and state in ('held', 'pending');
-- Failures are few and what people look for; without it they are found by reading the whole log.
create index delivery_failed on delivery (webhook_id, delivery_id) where state = 'failed';

-- The least event id of a moment (RFC 9562, section 5.7: the first 48 bits are Unix milliseconds).
create function event_id_at(moment timestamptz) returns uuid language sql immutable strict parallel safe
  return (lpad(to_hex(floor(extract(epoch from moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;
