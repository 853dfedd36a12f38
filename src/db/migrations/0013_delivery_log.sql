-- no transaction
-- `delivery` is the queue from here on, with the attempts of what is in it. A delivery that has ended moves to the log,
-- in one row with its attempts; so the queue is as long as what waits, whatever happened in the last weeks.
do $$ begin
  if (select relkind = 'i' from pg_class where oid = to_regclass('delivery_log')) then
    alter index delivery_log rename to delivery_by_webhook;
  end if;
end $$;

create table if not exists delivery_log (
  delivery_id bigint not null,
  account_id bigint not null,
  webhook_id bigint not null,
  event_id uuid not null,
  event_sequence bigint not null,
  event_type text not null,
  record text not null,
  state text not null check (state in ('delivered', 'failed')),
  failed_reason text, -- null: delivered, or failed before this was noted
  attempt_count smallint not null,
  spared smallint,
  attempts json not null, -- the latest 100 as the API shows them, the latest first
  replay_id bigint,
  created_at timestamptz(3) not null, -- when it was queued
  ended_at timestamptz(3) not null default now(),
  primary key (webhook_id, delivery_id, account_id, ended_at)
) partition by range (ended_at);

create index if not exists delivery_log_failed on delivery_log (webhook_id, delivery_id) where state = 'failed';

create index if not exists delivery_log_by_record on delivery_log (webhook_id, record, delivery_id);

create index if not exists delivery_log_by_time on delivery_log (webhook_id, created_at);

do $$ begin
  if not exists (select from partitions_of('delivery_log')) then perform add_default_partition('delivery_log'); end if;
end $$;

select keep_partitions('delivery_log', 3);

-- From when on deliveries move to the log. Processes of the release before, which look for them in `delivery`, have a
-- day to end.
create table if not exists delivery_log_start (
  singleton boolean primary key default true check (singleton),
  starts_at timestamptz(3) not null
);

insert into delivery_log_start (starts_at)
select case when exists (select from webhook) then now() + interval '1 day' else now() end
on conflict do nothing;

-- What has expired, and what is yet to be moved.
create index concurrently if not exists delivery_by_event on delivery (event_id) where state in ('held', 'pending');

create index concurrently if not exists delivery_ended on delivery (delivery_id) where state in ('delivered', 'failed');

-- Deliveries that were given up since their events are no longer kept.
alter table webhook
  add column if not exists expired_deliveries bigint not null default 0,
  add column if not exists first_expired_at timestamptz(3),
  add column if not exists last_expired_at timestamptz(3);
