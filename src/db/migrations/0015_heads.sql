-- no transaction
-- Finds whether a key has a pending delivery. By time, since those that have ended lie before endpoint_due.oldest_at: as
-- long as a snapshot is open, their entries stay.
create index concurrently delivery_head on delivery (webhook_id, record, next_attempt_at) where state = 'pending';

-- The only ones that can come before a delivery of their key which has ended.
create index concurrently delivery_again on delivery (webhook_id, record, event_sequence)
  where state = 'held' and (replay_id is not null or attempts > 0);
