-- What an endpoint's failures and recoveries mean to all that waits for it.
alter table webhook
  add column last_failed_at timestamptz(3), -- while it is failing
  add column quiet_until timestamptz(3), -- asked for by Retry-After; nothing is attempted before
  add column recovered_at timestamptz(3); -- until what was put off before this moment is due
create index webhook_recovering on webhook (recovered_at) where recovered_at is not null;

alter table delivery add column spared smallint; -- attempts that its schedule does not count; null: none
