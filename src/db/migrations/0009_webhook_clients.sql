-- The client that registered a webhook, whose rights it has at every moment. Null: registered before this was noted.
alter table webhook add column client_id text;
create index webhook_by_client on webhook (client_id);
