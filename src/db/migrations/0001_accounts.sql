-- An account is one restaurant group. Every table below carries account_id in its key, so that the
-- database can be sharded by account later without a rewrite.
create table account (
  account_id bigint generated always as identity primary key,
  name text not null unique,
  created_at timestamptz(3) not null default now()
);

-- A client is one integration (POS, kiosk, ordering app) that may act for an account.
create table client (
  client_id text not null,
  account_id bigint not null references account,
  secret_hash bytea not null,
  scopes text[] not null,
  location_ids bigint[], -- null: every location of the account
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (client_id, account_id),
  unique (client_id)
);

-- Keys that sign access tokens. They belong to the service, not to an account.
create table signing_key (
  kid text primary key,
  public_jwk json not null,
  sealed_private_key bytea not null,
  created_at timestamptz(3) not null default now()
);
