-- no transaction
-- Secrets of a client that a rotation has replaced, until the end of their overlap; client has the current one.
create table if not exists retired_client_secret (
  client_id text not null,
  account_id bigint not null,
  secret_hash bytea not null,
  expires_at timestamptz(3) not null,
  primary key (client_id, secret_hash, account_id),
  foreign key (client_id, account_id) references client (client_id, account_id) on delete cascade
);

-- Tokens of an earlier generation are refused.
alter table client add column if not exists token_generation integer not null default 0;

-- Until then the key is only published; null: it has signed from the start.
alter table signing_key add column if not exists signs_from timestamptz(3);

-- From when on sealed values name their key (src/db/seal.ts). On a database that processes of the release before have
-- used, these have a day to end: they cannot open such values.
create table if not exists sealing (
  singleton boolean primary key default true check (singleton),
  names_keys_from timestamptz(3) not null
);

insert into sealing (names_keys_from)
select case when exists (select from signing_key) then now() + interval '1 day' else now() end
on conflict do nothing;

-- Of sealed_answer; null: stored by the release before.
alter table idempotency_key add column if not exists bytes integer;

-- What a client's keys take is counted now and then.
create index concurrently idempotency_key_by_client on idempotency_key (client_id, created_at) include (bytes);
