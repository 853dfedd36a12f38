-- What a client's POST with an Idempotency-Key was answered, for repeats within 24 hours.
create table idempotency_key (
  client_id text not null,
  account_id bigint not null,
  path text not null,
  key text not null,
  body_hash bytea not null,
  sealed_answer bytea not null, -- an answer may hold a webhook's secret
  created_at timestamptz(3) not null default now(),
  primary key (client_id, path, key, account_id)
);
create index idempotency_key_by_age on idempotency_key (created_at);
