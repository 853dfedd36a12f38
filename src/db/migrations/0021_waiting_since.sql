-- no transaction
-- When the oldest of what waits at an endpoint was queued, as far as is known; null: nothing waits, or nobody has looked.
alter table endpoint_due add column if not exists waiting_since timestamptz(3);

-- Finds the endpoint that waits for longest, however many wait.
create index concurrently if not exists endpoint_due_waiting on endpoint_due (waiting_since)
  where waiting_since is not null;
