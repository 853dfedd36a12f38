-- Access tokens that their client has given up before their end. A row is removed once its token has ended anyway.
create table revoked_token (
  token_id uuid not null,
  client_id text not null,
  account_id bigint not null,
  expires_at timestamptz(3) not null,
  primary key (client_id, token_id, account_id),
  foreign key (client_id, account_id) references client (client_id, account_id)
);
create index revoked_token_ended on revoked_token (expires_at);
