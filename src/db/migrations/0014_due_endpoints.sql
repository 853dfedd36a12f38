-- Where a claim finds the endpoints at which something may be attempted, so that those with nothing due cost nothing
-- (src/webhooks/delivery/due-endpoints.ts).
create table endpoint_due (
  webhook_id bigint not null,
  account_id bigint not null,
  look_at timestamptz, -- nothing may be attempted before; null: until somebody makes something due
  oldest_at timestamptz(3) not null, -- no pending delivery has an earlier next_attempt_at
  primary key (webhook_id, account_id),
  foreign key (webhook_id, account_id) references webhook (webhook_id, account_id) on delete cascade
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index endpoint_due_by_time on endpoint_due (look_at) where look_at is not null;

insert into endpoint_due select webhook_id, account_id, now(), '-infinity' from webhook;

-- The last sequence that an event in the outbox was given. The service's role may have no rights but on tables, so this
-- lends the owner's.
create function outbox_drawn() returns bigint language sql stable security definer
  return (select last_value - (not is_called)::int from outbox_sequence_seq);
